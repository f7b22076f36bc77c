#include "admin/status_json.hpp"

#include "sample.hpp"

#include <boost/json.hpp>
#include <catch2/catch.hpp>

#include <set>
#include <string>

using namespace retryd;
using namespace retryd::admin;
using namespace std::chrono_literals;

namespace {

std::set<std::string> keys(const boost::json::value& value) {
    std::set<std::string> names;
    for (const auto& member : value.as_object()) names.emplace(member.key().data(), member.key().size());
    return names;
}

model::StatusView full_status() {
    model::StatusView status = samples::status();
    status.draining = true;
    status.drained = true;
    status.links[1].blocked = true;
    status.links[1].trouble = "low on memory";
    status.queues = {samples::stalled_queue("orders")};
    status.queues[0].waiting_quick = 3;
    status.at = model::WallTime{1'764'558'000'123ms};
    status.queues[0].being_copied = 1;
    status.queues[0].slots = 2;
    status.queues[0].credit = 0;
    status.queues[0].held_back = true;
    status.queues[0].deliveries[2] = 77;
    status.queues[0].delivery_seconds = 1.25;
    model::BreakerView breaker;
    breaker.name = "payments";
    breaker.state = model::BreakerState::half_open;
    breaker.lasting = 3s;
    breaker.left = 2s;
    breaker.window = 30s;
    breaker.calls = 20;
    breaker.failed = 15;
    breaker.slow = 1;
    breaker.probes_in_flight = 2;
    breaker.why = "probes";
    breaker.recovering_at = 12.5;
    breaker.transitions = {1, 2, 3, 4, 5, 6};
    status.breakers = {breaker};
    status.queues[0].budgets = {{"park", 7.5, 100, true}};
    status.queues[0].storm = model::StormState::watch;
    status.queues[0].storm_transitions = {1, 0, 2, 3};
    status.queues[0].lane_rate = 4.5;
    status.queues[0].paused_by = "anna";
    status.queues[0].throttled_by = "bert";
    status.queues[0].throttled_to = 0.25;
    status.queues[0].depths = {{{"orders"}, "work", "", 104}, {{"retryd.orders.delay.800ms"}, "delay", "800ms", 10}};
    return status;
}

}  // namespace

TEST_CASE("the keys are the members' names") {
    const auto json = boost::json::parse(to_json(full_status()));
    CHECK(keys(json) == std::set<std::string>{"at_ms", "version", "policy_hash", "broker_version", "ready", "draining",
                                              "drained", "memory_used", "memory_limit", "links", "breakers", "queues"});
    CHECK(keys(json.at("breakers").at(0)) == std::set<std::string>{"name", "state", "lasting_ms", "left_ms", "window_ms",
                                                                   "calls", "failed", "slow", "probes_in_flight", "why",
                                                                   "recovering_at", "transitions", "forced_by"});
    CHECK(keys(json.at("links").at(0)) == std::set<std::string>{"name", "up", "blocked", "address", "trouble"});
    const auto& queue = json.at("queues").at(0);
    CHECK(keys(queue) == std::set<std::string>{"name",
                                               "consumer",
                                               "state",
                                               "stalls",
                                               "in_hand",
                                               "in_flight",
                                               "suspects",
                                               "waiting_quick",
                                               "being_copied",
                                               "concurrency",
                                               "concurrency_max",
                                               "slots",
                                               "credit",
                                               "held_back",
                                               "deliveries",
                                               "delivery_seconds",
                                               "budgets",
                                               "storm",
                                               "storm_transitions",
                                               "lane_rate",
                                               "paused_by",
                                               "throttled_by",
                                               "throttled_to",
                                               "subscribed_work",
                                               "subscribed_lane",
                                               "depths"});
    CHECK(keys(queue.at("stalls").at(0)) == std::set<std::string>{"cause", "detail", "lasting_ms"});
    CHECK(keys(queue.at("depths").at(0)) == std::set<std::string>{"queue", "kind", "tier", "messages"});
}

TEST_CASE("what is written is read back") {
    const auto status = status_from_json(to_json(full_status()));
    REQUIRE(status.has_value());
    CHECK(status->draining);
    CHECK(status->drained);
    CHECK(status->memory_limit == 256U * 1024 * 1024);
    CHECK(status->links[1].blocked);
    CHECK(status->links[1].trouble == "low on memory");
    const model::QueueView& queue = status->queues.at(0);
    CHECK(status->breakers.at(0).state == model::BreakerState::half_open);
    CHECK(status->breakers.at(0).left == 2s);
    CHECK(status->breakers.at(0).transitions[5] == 6);
    CHECK(queue.budgets.at(0).spent);
    CHECK(queue.storm == model::StormState::watch);
    CHECK(queue.lane_rate == 4.5);
    CHECK(queue.stalls.at(0).cause == model::Cause::consumer_away);
    CHECK(queue.stalls.at(0).lasting == 12s);
    CHECK(status->at == full_status().at);
    CHECK(queue.slots == 2);
    CHECK(queue.credit == 0U);
    CHECK(queue.held_back);
    CHECK(queue.deliveries == full_status().queues[0].deliveries);
    CHECK(queue.delivery_seconds == 1.25);
    CHECK(queue.waiting_quick == 3);
    CHECK(queue.being_copied == 1);
    CHECK(queue.concurrency == 16);
    CHECK(queue.subscribed_lane);
    CHECK(queue.depths.at(1).tier == "800ms");
    CHECK(queue.depths.at(1).messages == 10);
    CHECK(to_json(*status) == to_json(full_status()));
}

TEST_CASE("every cause is read back") {
    for (std::size_t i = 0; i < model::cause_count; ++i) {
        model::StatusView status = full_status();
        status.queues[0].stalls[0].cause = static_cast<model::Cause>(i);
        const auto read = status_from_json(to_json(status));
        REQUIRE(read.has_value());
        CHECK(read->queues[0].stalls[0].cause == static_cast<model::Cause>(i));
    }
}

TEST_CASE("hostile text stays inside its string") {
    using namespace std::string_literals;
    const auto text = GENERATE("\"},{\"ready\":true,\"x\":\""s, "a\nb\r\n\tc"s, "\xff\xfe\x80"s, "\0nul"s, "\x1b[2J"s,
                               "</script><script>"s, "\xed\xa0\x80"s, "\\u0000\\"s, "gr\xc3\xbc\xc3\x9f"s);
    model::StatusView status = full_status();
    status.queues[0].name.value = status.queues[0].stalls[0].detail = status.links[0].trouble = text;
    const std::string json = to_json(status);
    CHECK(json.find('\n') == std::string::npos);
    boost::json::error_code error;
    const auto value = boost::json::parse(json, error);
    REQUIRE(!error);
    CHECK(value.as_object().size() == 12);
    CHECK(value.at("queues").as_array().size() == 1);
    const auto read = status_from_json(json);
    REQUIRE(read.has_value());
    for (char c : read->queues[0].name.value) CHECK(static_cast<unsigned char>(c) >= ' ');
}

TEST_CASE("what is no status is refused with a sentence") {
    const std::string good = to_json(full_status());
    const auto text =
        GENERATE_COPY(std::string{}, std::string{"ok"}, std::string{"{}"}, std::string{"[]"}, good.substr(0, good.size() / 2),
                      std::string{good}.replace(good.rfind("consumer-away"), 13, "x"));
    const auto read = status_from_json(text);
    REQUIRE(!read);
    CHECK(!read.error().what.empty());
}
