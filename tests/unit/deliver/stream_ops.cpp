#include "deliver/stream_ops.hpp"

#include <catch2/catch.hpp>

#include <random>

using namespace retryd;
using namespace retryd::deliver;
using namespace std::chrono_literals;

namespace {

template <class Op>
Op as(std::string_view header) {
    INFO(header);
    auto op = read_op(header);
    REQUIRE(std::holds_alternative<Op>(op));
    return std::get<Op>(op);
}

std::string_view code(std::string_view header) {
    return as<Breach>(header).code;
}

}  // namespace

TEST_CASE("each op is read with its members, and unknown ones are ignored") {
    CHECK(as<HelloOp>(R"({"op":"hello","protocol":1,"credit":64,"name":"w","later":[1]})").credit == 64);
    CHECK(as<HelloOp>(R"({"op":"hello","protocol":1})").credit == 0);
    CHECK(as<CreditOp>(R"({"op":"credit","n":3})").credit == 3);
    CHECK(as<CreditOp>(R"({"op":"credit","n":3.0})").credit == 3);
    CHECK(as<CreditOp>(R"({"op":"credit","n":4294967297})").credit == most_credit);
    const auto extend = as<ExtendOp>(R"({"op":"extend","id":7,"ms":30000})");
    CHECK(extend.id == 7);
    CHECK(extend.more == 30s);
    as<PongOp>(R"({"op":"pong"})");
    as<LeaveOp>(R"({"op":"leave"})");
}

TEST_CASE("a reply is read with all that it states") {
    const auto op =
        as<ReplyOp>(R"({"op":"reply","id":17,"outcome":"transient","error":{"type":"DbTimeout","message":"no answer"},)"
                    R"("retry_after_ms":5000,"dependency":"payments","credit":1})");
    CHECK(op.id == 17);
    CHECK(op.credit == 1);
    CHECK(op.reply.kind == model::Reply::Kind::answered);
    CHECK(op.reply.stated == model::Outcome::transient);
    CHECK(op.reply.retry_after->span == 5s);
    CHECK(op.reply.error_type == "DbTimeout");
    CHECK(op.reply.error_message == "no answer");
    CHECK(op.reply.dependency == "payments");
}

TEST_CASE("a reply may be bare, and an outcome that nobody knows is misstated") {
    const auto bare = as<ReplyOp>(R"({"op":"reply","id":1,"outcome":"success"})");
    CHECK(bare.credit == 0);
    CHECK_FALSE(bare.reply.retry_after);
    CHECK_FALSE(bare.reply.misstated);
    for (const auto* outcome : {R"("timeout")", R"("Success")", "7", "null", "{}"}) {
        const auto op = as<ReplyOp>(R"({"op":"reply","id":1,"outcome":)" + std::string(outcome) + "}");
        CHECK(op.reply.misstated);
        CHECK_FALSE(op.reply.stated);
    }
    CHECK(as<ReplyOp>(R"({"op":"reply","id":1})").reply.misstated);
    CHECK(as<ReplyOp>(R"({"op":"reply","id":1,"outcome":"throttled","retry_after_ms":9007199254740992})")
              .reply.retry_after->span < 24h * 365 * 101);
    for (const auto* const number : {"9223372036854775807", "18446744073709551616", "1e300"}) {
        const auto text = [&](const std::string& before) { return before + number + "}"; };
        CHECK(as<ReplyOp>(text(R"({"op":"reply","id":1,"outcome":"throttled","retry_after_ms":)")).reply.retry_after->span ==
              std::chrono::years{100});
        CHECK(as<ExtendOp>(text(R"({"op":"extend","id":1,"ms":)")).more == std::chrono::years{100});
        CHECK(as<CreditOp>(text(R"({"op":"credit","n":)")).credit == most_credit);
    }
    CHECK_FALSE(
        as<ReplyOp>(R"({"op":"reply","id":1,"outcome":"throttled","retry_after_ms":-1,"error":"x"})").reply.retry_after);
}

TEST_CASE("a time to wait is taken to the next millisecond, and one of centuries as the longest that there is") {
    const auto wait = [](const std::string& number) {
        return as<ReplyOp>(R"({"op":"reply","id":1,"outcome":"throttled","retry_after_ms":)" + number + "}").reply.retry_after;
    };
    CHECK(wait("0")->span == 0s);
    CHECK(wait("36000000")->span == 10h);
    CHECK(wait("1500.25")->span == 1501ms);
    CHECK(wait("1e3")->span == 1s);
    const auto longest = wait("9007199254740992")->span;
    CHECK(longest > 24h * 365 * 99);
    for (const std::string number : {"9007199254740993", "9223372036854775807", "18446744073709551616", "1e300"})
        CHECK(wait(number)->span == longest);
    for (const std::string none : {"-1", "-0.5", "\"5000\"", "null", "true", "[5000]"}) CHECK_FALSE(wait(none));
}

TEST_CASE("what breaks the protocol has a code") {
    CHECK(code("") == "bad_json");
    CHECK(code("{") == "bad_json");
    CHECK(code("[]") == "bad_json");
    CHECK(code("\"op\"") == "bad_json");
    CHECK(code("{\"op\":\"pong\"} x") == "bad_json");
    CHECK(code("{\"op\":\"\xff\"}") == "bad_json");
    CHECK(code(std::string(100, '[') + std::string(100, ']')) == "bad_json");
    CHECK(code("{}") == "unknown_op");
    CHECK(code(R"({"op":7})") == "unknown_op");
    CHECK(code(R"({"op":"welcome"})") == "unknown_op");
    CHECK(code(R"({"op":"hello"})") == "unsupported_protocol");
    CHECK(code(R"({"op":"hello","protocol":2})") == "unsupported_protocol");
    CHECK(code(R"({"op":"hello","protocol":1,"credit":-1})") == "bad_value");
    CHECK(code(R"({"op":"credit","n":"many"})") == "bad_value");
    CHECK(code(R"({"op":"credit","n":0.5})") == "bad_value");
    CHECK(code(R"({"op":"reply","outcome":"success"})") == "unknown_id");
    CHECK(code(R"({"op":"reply","id":-1,"outcome":"success"})") == "unknown_id");
    CHECK(code(R"({"op":"reply","id":1,"outcome":"success","credit":true})") == "bad_value");
    CHECK(code(R"({"op":"extend","id":1})") == "bad_value");
    CHECK(code(R"({"op":"extend","ms":1})") == "unknown_id");
}

TEST_CASE("headers changed at random are read or refused") {
    std::mt19937 random{7};
    const std::string good = R"({"op":"reply","id":17,"outcome":"transient","error":{"type":"T","message":"m"},"credit":1})";
    for (int round = 0; round < 20000; ++round) {
        auto header = good;
        for (auto changes = random() % 4 + 1; changes > 0; --changes)
            header[random() % header.size()] = static_cast<char>(random());
        const auto op = read_op(header.substr(0, random() % (header.size() + 1)));
        REQUIRE(op.index() < std::variant_size_v<ConsumerOp>);
    }
}
