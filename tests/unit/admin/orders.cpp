#include "admin/orders.hpp"

#include "admin/routes.hpp"
#include "sample.hpp"

#include <boost/json.hpp>
#include <catch2/catch.hpp>

#include <string>
#include <utility>
#include <vector>

using namespace retryd;
using namespace retryd::admin;
using namespace std::chrono_literals;
using Act = model::Order::Act;

namespace {

model::BreakerView payments() {
    model::BreakerView breaker;
    breaker.name = "payments";
    breaker.state = model::BreakerState::forced_open;
    breaker.calls = 20;
    breaker.failed = 7;
    breaker.why = "by uid 0, for 60 s more; 7 of 20 calls failed in 30 s";
    breaker.recovering_at = 12.4;
    return breaker;
}

Response post(samples::Operator& seen, std::string_view target, std::string_view content_type = "application/json") {
    return respond({.method = "POST", .target = target, .content_type = content_type, .peer = "uid 7"}, {}, seen,
                   [] { return std::string(); });
}

// As one line.
std::string text_in(const std::string& body) {
    std::string text(boost::json::parse(body).at("text").as_string());
    while (text.find("\n  ") != std::string::npos) text.replace(text.find("\n  "), 3, " ");
    return text;
}

}  // namespace

TEST_CASE("what the target of a request orders") {
    const auto forced = order_in("/breaker?name=queue%3Aorders&act=open&for_ms=1800000");
    REQUIRE(forced.has_value());
    CHECK(forced->act == Act::open);
    CHECK(forced->target == "queue:orders");
    CHECK(forced->lasting == model::Milliseconds{30min});
    CHECK_FALSE(order_in("/breaker?name=x&act=disable")->lasting);
    for (const auto act : model::breaker_acts)
        CHECK(order_in("/breaker?name=x&act=" + std::string(model::to_text(act)))->act == act);
    CHECK(order_in("/pause?queue=orders")->act == Act::pause);
    CHECK(order_in("/resume?queue=orders")->target == "orders");
    const auto throttled = order_in("/throttle?queue=orders&percent=20");
    REQUIRE(throttled.has_value());
    CHECK(throttled->act == Act::throttle);
    CHECK(throttled->retries.value == 0.2);
}

TEST_CASE("what is no order is told as a sentence, and nothing is done") {
    samples::Operator seen;
    for (const auto* target :
         {"/breaker", "/breaker?name=x", "/breaker?act=open", "/breaker?name=x&act=explode",
          "/breaker?name=x&act=open&for_ms=", "/breaker?name=x&act=open&for_ms=0", "/breaker?name=x&act=open&for_ms=1e3",
          "/breaker?name=x&act=open&for_ms=-1", "/breaker?name=x&act=open&for_ms=99999999999999999999",
          "/breaker?name=x&act=reset&for_ms=1000", "/pause", "/resume?queue=", "/throttle?queue=x",
          "/throttle?queue=x&percent=0", "/throttle?queue=x&percent=101", "/throttle?queue=x&percent=2x"}) {
        CAPTURE(target);
        CHECK(post(seen, target).status == 400);
    }
    CHECK(seen.orders.empty());
}

TEST_CASE("an order is passed on with who gave it, and answered with what has become of it") {
    samples::Operator seen;
    seen.view.breakers = {payments()};
    const auto answer = post(seen, "/breaker?name=payments&act=open&for_ms=60000");
    CHECK(answer.status == 200);
    CHECK(seen.ordered_by == "uid 7");
    CHECK(seen.orders.at(0).lasting == model::Milliseconds{1min});
    CHECK(boost::json::parse(answer.body).at("breakers").at(0).at("state").as_string() == "forced-open");
    CHECK(text_in(answer.body).find("by uid 0, for 60 s more") != std::string::npos);
    seen.view.queues[0].paused_by = "uid 7";
    CHECK(text_in(post(seen, "/pause?queue=orders").body) ==
          "orders is paused by uid 7: nothing is delivered until it is resumed.\n");
    seen.view.queues[0].throttled_by = "uid 8";
    seen.view.queues[0].throttled_to = 0.2;
    seen.view.queues[0].lane_rate = 3.6;
    CHECK(text_in(post(seen, "/throttle?queue=orders&percent=20").body).find("20 % of its normal rate, 4") !=
          std::string::npos);
    seen.view.queues[0].paused_by = seen.view.queues[0].throttled_by = "";
    CHECK(text_in(post(seen, "/resume?queue=orders").body) == "orders is neither paused nor throttled.\n");
    CHECK(seen.orders.size() == 4);
}

TEST_CASE("of what is not there it is told what is; nothing is done without JSON") {
    samples::Operator seen;
    seen.view.breakers = {payments()};
    auto& other = seen.view.breakers.emplace_back();
    other.name = "other";
    other.is_unknown = true;
    CHECK(post(seen, "/breaker?name=nobody&act=open").body == "there is no nobody; there are payments\n");
    CHECK(post(seen, "/pause?queue=nobody").status == 404);
    CHECK(post(seen, "/pause?queue=nobody").body == "there is no nobody; there are orders\n");
    seen.orders.clear();
    CHECK(post(seen, "/pause?queue=orders", "text/plain").status == 415);
    CHECK(seen.orders.empty());
}

TEST_CASE("the breakers explain themselves on a terminal") {
    auto status = samples::status();
    CHECK(text_in(breakers_page(status)) == "The policy has no breakers.\n");
    status.breakers = {payments()};
    const auto text = text_in(breakers_page(status));
    CHECK(text.find("BREAKER") == 0);
    CHECK(text.find("forced-open") != std::string::npos);
    CHECK(text.find("7 of 20 calls failed in 30 s. Until nobody waits any more it lets 12 calls a second pass.") !=
          std::string::npos);
}
