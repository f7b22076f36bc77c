#include "deliver/http_reply.hpp"

#include "deliver/http_date.hpp"

#include <catch2/catch.hpp>

using namespace std::chrono_literals;
using namespace retryd;
using deliver::read_reply;
using model::Outcome;

namespace {

model::Reply with(std::string_view name, std::string_view value) {
    return read_reply(500, {{name, value}}, "");
}

model::Reply problem(std::string_view body) {
    return read_reply(422, {{"Content-Type", "application/problem+json"}}, body);
}

}  // namespace

TEST_CASE("a bare reply is its status and nothing else") {
    const auto reply = read_reply(204, {}, "");
    CHECK(reply.kind == model::Reply::Kind::answered);
    CHECK(reply.status == 204);
    CHECK_FALSE(reply.stated.has_value());
    CHECK_FALSE(reply.misstated);
    CHECK_FALSE(reply.retry_after.has_value());
    CHECK(reply.error_type.empty());
    CHECK(reply.error_message.empty());
}

TEST_CASE("Retry-After in seconds is a span") {
    CHECK(with("Retry-After", "0").retry_after->span == 0ms);
    CHECK(with("retry-after", " 120 ").retry_after->span == 120s);
    CHECK_FALSE(with("Retry-After", "120").retry_after->until.has_value());
}

TEST_CASE("a Retry-After of centuries is cut where it is safe to add") {
    const auto* const text = GENERATE("9999999999", "99999999999999999999999999");
    CAPTURE(text);
    const auto span = with("Retry-After", text).retry_after->span.value();
    CHECK(span == std::chrono::years{100});
}

TEST_CASE("Retry-After as a date is a point in time, past or not") {
    const auto until = with("Retry-After", "Sun, 06 Nov 1994 08:49:37 GMT").retry_after->until.value();
    CHECK(deliver::to_rfc3339(until) == "1994-11-06T08:49:37.000Z");
}

TEST_CASE("a Retry-After that can't be understood is as good as absent") {
    const auto* const text = GENERATE("", "abc", "-1", "1.5", "+5", "5s", "0x10", "Sun, 32 Nov 1994 08:49:37 GMT");
    CAPTURE(text);
    CHECK_FALSE(with("Retry-After", text).retry_after.has_value());
}

TEST_CASE("each outcome may be stated") {
    CHECK(with("Retryd-Outcome", "success").stated == Outcome::success);
    CHECK(with("retryd-outcome", " drop").stated == Outcome::drop);
    CHECK(with("Retryd-Outcome", "transient").stated == Outcome::transient);
    CHECK(with("Retryd-Outcome", "permanent").stated == Outcome::permanent);
    CHECK(with("Retryd-Outcome", "throttled").stated == Outcome::throttled);
    CHECK(with("Retryd-Outcome", "endpoint").stated == Outcome::endpoint);
}

TEST_CASE("an outcome that nobody knows or that only retryd may find is misstated") {
    const auto* const text = GENERATE("sucess", "", "timeout", "lost", "unavailable", "success, drop");
    CAPTURE(text);
    const auto reply = with("Retryd-Outcome", text);
    CHECK(reply.misstated);
    CHECK_FALSE(reply.stated.has_value());
}

TEST_CASE("two outcomes in one reply are misstated unless they are the same") {
    const auto two = [](std::string_view a, std::string_view b) {
        return read_reply(200, {{"Retryd-Outcome", a}, {"Retryd-Outcome", b}}, "");
    };
    CHECK(two("success", "permanent").misstated);
    CHECK(two("nonsense", "success").misstated);
    CHECK_FALSE(two("nonsense", "success").stated.has_value());
    CHECK_FALSE(two("success", "success").misstated);
    CHECK(two("success", "success").stated == Outcome::success);
}

TEST_CASE("what the consumer states in headers is taken as it stands") {
    const auto reply = read_reply(500,
                                  {{"Retryd-Error-Type", "DbTimeout"},
                                   {"Retryd-Error-Message", "no answer%0A"},
                                   {"Retryd-Dependency", "payments"},
                                   {"Retryd-App-Version", "1.2.3"}},
                                  "");
    CHECK(reply.error_type == "DbTimeout");
    CHECK(reply.error_message == "no answer%0A");
    CHECK(reply.dependency == "payments");
    CHECK(reply.app_version == "1.2.3");
}

TEST_CASE("a problem's members speak where the headers are silent") {
    const std::string_view body =
        R"({"type":"https://shop/out-of-stock","title":"Out of stock","detail":"none of\n5","dependency":"stock","status":409})";
    const auto reply = problem(body);
    CHECK(reply.status == 422);
    CHECK(reply.error_type == "https://shop/out-of-stock");
    CHECK(reply.error_message == "none of\n5");
    CHECK(reply.dependency == "stock");
    const auto stated =
        read_reply(422, {{"content-type", "Application/Problem+JSON; charset=utf-8"}, {"Retryd-Error-Type", "Mine"}}, body);
    CHECK(stated.error_type == "Mine");
    CHECK(stated.error_message == "none of\n5");
}

TEST_CASE("a problem without a type of its own is known by its title") {
    const auto* const body = GENERATE(R"({"title":"Out of stock"})", R"({"type":"about:blank","title":"Out of stock"})",
                                      R"({"type":7,"title":"Out of stock","detail":null})");
    const auto reply = problem(body);
    CHECK(reply.error_type == "Out of stock");
    CHECK(reply.error_message == "Out of stock");
}

TEST_CASE("a body that is no problem document says nothing") {
    const std::string deep = "{\"title\":\"t\",\"x\":" + std::string(1000, '[') + std::string(1000, ']') + "}";
    const std::string body =
        GENERATE_COPY(std::string(), std::string("{"), std::string("[\"title\"]"), std::string("\"title\""),
                      std::string("{\"title\":\"a\xff\"}"), std::string("{\"title\":\"a\"} x"), deep);
    CAPTURE(body);
    const auto reply = problem(body);
    CHECK(reply.status == 422);
    CHECK(reply.error_type.empty());
    CHECK(reply.error_message.empty());
}

TEST_CASE("JSON under another media type is not looked at") {
    CHECK(read_reply(422, {{"Content-Type", "application/json"}}, R"({"title":"t"})").error_type.empty());
}
