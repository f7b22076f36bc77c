#include "admin/why_not.hpp"

#include "sample.hpp"

#include <boost/json.hpp>
#include <catch2/catch.hpp>

using namespace retryd;
using namespace retryd::admin;
using namespace std::chrono_literals;

namespace {

const model::WallTime at{1'764'558'000s};  // 2025-12-01 03:00:00Z

model::QueueView busy_queue() {
    model::QueueView queue = samples::queue("orders");
    queue.in_hand = 40;
    queue.in_flight = queue.slots = queue.concurrency = 16;
    queue.deliveries[0] = 90;
    queue.deliveries[2] = 10;
    queue.delivery_seconds = 12.5;
    return queue;
}

std::string only_cause(const model::QueueView& queue) {
    const auto answer = why_not(queue, at);
    REQUIRE(answer.hindrances.size() == 1);
    return answer.hindrances[0].cause;
}

}  // namespace

TEST_CASE("every cause says what would heal it") {
    for (std::size_t i = 0; i < model::cause_count; ++i) {
        const auto cause = static_cast<model::Cause>(i);
        CAPTURE(model::to_text(cause));
        model::QueueView queue = samples::queue("orders");
        queue.stalls = {{cause, "the detail", 5min}};
        const auto answer = why_not(queue, at);
        REQUIRE(answer.hindrances.size() == 1);
        CHECK(answer.hindrances[0].stops);
        CHECK(answer.hindrances[0].what.find("the detail.") != std::string::npos);
        CHECK(answer.hindrances[0].what.find(std::string(model::to_text(cause)) + ":") ==
              std::string::npos);  // a sentence of its own
        CHECK(answer.hindrances[0].heals.ends_with("."));
    }
}

TEST_CASE("a queue that is held up says since when, why, and what heals it") {
    CHECK(to_text(why_not(samples::stalled_queue("orders"), at)) ==
          "orders does not flow.\n"
          "\n"
          "consumer-away, since 2025-12-01 02:59:48Z (12 s)\n"
          "  Nobody takes deliveries: connect unix:/run/app.sock: No such file or directory.\n"
          "  What heals it: Start the consumer. retryd looks for it every 5 s at the latest and goes on by\n"
          "  itself; no message is charged.\n"
          "\n"
          "8 of 16 slots in use, 4 messages ready in hand. Nothing has been delivered yet.\n");
}

TEST_CASE("a queue that flows says so with figures") {
    model::QueueView queue = busy_queue();
    queue.in_hand = queue.in_flight = 3;
    queue.depths = {{{"orders"}, "work", "", 7}, {{"l"}, "lane", "", 1}, {{"d"}, "delay", "1s", 20}, {{"h"}, "hold", "1m", 2}};
    const auto answer = why_not(queue, at);
    CHECK(answer.hindrances.empty());
    CHECK(answer.summary == "orders flows.");
    CHECK(answer.figures ==
          "3 of 16 slots in use, 0 messages ready in hand, 7 in the work queue, 1 in the return lane, 22 waiting for a later "
          "try, "
          "0 parked and 0 dead letters. 100 deliveries since the start, 90 % of them succeeded, 125 ms each on average.");
    queue.delivery_seconds = 0.001;
    CHECK(why_not(queue, at).figures.ends_with("succeeded, under 1 ms each on average."));
    queue.in_hand = queue.in_flight = 0;
    CHECK(why_not(queue, at).summary.starts_with("orders flows; nothing is there to be delivered."));
}

TEST_CASE("a queue that flows slower than it could says what slows it") {
    model::QueueView queue = busy_queue();
    CHECK(only_cause(queue) == "busy");
    CHECK(why_not(queue, at).summary.starts_with("orders flows, but slower than it could."));
    CHECK(why_not(queue, at).hindrances[0].what ==
          "24 messages wait in hand for one of the 16 slots, all of which are in use; a delivery takes 125 ms on average.");
    queue.in_flight = queue.slots = 4;
    CHECK(only_cause(queue) == "slow-start");
    queue.credit = 0;
    CHECK(only_cause(queue) == "credit");
    queue = busy_queue();
    queue.in_flight = 1;
    queue.suspects = 3;
    CHECK(only_cause(queue) == "suspects");

    queue = busy_queue();
    queue.in_hand = queue.in_flight;
    queue.held_back = true;
    CHECK(only_cause(queue) == "copies");
}

TEST_CASE("what only slows is not told of a queue that is held up") {
    model::QueueView queue = busy_queue();
    queue.stalls = samples::stalled_queue("orders").stalls;
    CHECK(only_cause(queue) == "consumer-away");
}

TEST_CASE("the JSON has the causes and the text") {
    const auto value = boost::json::parse(to_json(why_not(samples::stalled_queue("orders"), at)));
    CHECK(value.at("queue").as_string() == "orders");
    CHECK_FALSE(value.at("flows").as_bool());
    CHECK(value.at("causes").at(0).at("cause").as_string() == "consumer-away");
    CHECK(value.at("causes").at(0).at("lasting_ms").as_int64() == 12'000);
    CHECK(value.at("causes").at(0).at("since_ms").as_int64() == 1'764'557'988'000);
    CHECK(value.at("text").as_string().starts_with("orders does not flow."));
    CHECK(boost::json::parse(to_json(why_not(busy_queue(), at))).at("flows").as_bool());
}

TEST_CASE("hostile details stay inside their sentence") {
    model::QueueView queue = samples::stalled_queue("orders");
    queue.stalls[0].detail = "a\nconsumer-away, since ever\x1b[2J";
    CHECK(why_not(queue, at).hindrances[0].what.find('\n') == std::string::npos);
    CHECK(why_not(queue, at).hindrances[0].what.find('\x1b') == std::string::npos);
}
