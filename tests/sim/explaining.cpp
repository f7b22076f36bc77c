// What the engine says of a message and of itself, while it goes through its life.

#include "sim/policies.hpp"
#include "sim/world.hpp"

#include <catch2/catch.hpp>

#include <algorithm>

using namespace retryd;
using namespace retryd::sim;
using model::DecisionView;
using model::InHandView;

namespace {

model::WhyView why(World& world, std::string_view id) {
    return world.engine().why(id, world.time().now());
}

std::vector<DecisionView::Kind> kinds(const model::WhyView& view) {
    std::vector<DecisionView::Kind> found;
    for (const auto& one : view.decisions) found.push_back(one.kind);
    return found;
}

Extra with_id(std::string id) {
    Extra extra;
    extra.message_id = std::move(id);
    return extra;
}

std::size_t lines(const World& world, std::string_view event) {
    return static_cast<std::size_t>(std::count_if(world.log().begin(), world.log().end(), [&](const std::string& line) {
        return line.find(event) != std::string::npos;
    }));
}

constexpr auto retry = DecisionView::Kind::retry;
constexpr auto done = DecisionView::Kind::done;
constexpr auto lot = DecisionView::Kind::lot;

}  // namespace

TEST_CASE("why tells each decision of a message, newest first, with its wait and its place") {
    World world{orders([](auto& queue) { queue.retry.jitter = {0}; })};
    world.publish("orders", fails_then_succeeds(2), with_id("m"));
    world.start();
    REQUIRE(world.run_until_settled(1min));
    const auto view = why(world, "m");
    CHECK(view.in_hand.empty());
    REQUIRE(kinds(view) == std::vector{done, retry, retry});
    CHECK(view.decisions[2].attempts == 1);
    CHECK(view.decisions[1].attempts == 2);
    CHECK(view.decisions[1].wait == 200ms);
    CHECK(view.decisions[1].place == model::QueueName{"retryd.orders.delay.200ms"});
    CHECK(view.decisions[1].outcome == model::Outcome::transient);
    CHECK(view.decisions[0].attempts == 2);
}

TEST_CASE("why tells where a message was parked and for what reason") {
    World world{orders()};
    world.publish("orders", always_fails(), with_id("m"));
    world.publish("orders", is_permanent(), with_id("p"));
    world.start();
    REQUIRE(world.run_until_settled(1min));
    CHECK(kinds(why(world, "m")) == std::vector{lot, retry, retry, retry});
    CHECK(why(world, "m").decisions[0].reason == model::Reason::exhausted);
    CHECK(why(world, "m").decisions[0].place == parked);
    REQUIRE(kinds(why(world, "p")) == std::vector{lot});
    CHECK(why(world, "p").decisions[0].place == dlq);
}

TEST_CASE("why tells what is in hand: at the consumer, ready, or waiting for a quick try") {
    World world{orders([](auto& queue) { queue.deliver.concurrency = 1; })};
    auto slow = answer(200);
    slow.after = 10s;
    world.publish("orders", always(slow), with_id("first"));
    world.publish("orders", succeeds(), with_id("second"));
    world.start();
    world.run_for(2s);
    const auto first = why(world, "first");
    REQUIRE(first.in_hand.size() == 1);
    CHECK(first.in_hand[0].state == InHandView::State::at_consumer);
    CHECK(first.in_hand[0].attempt == 1);
    CHECK(first.in_hand[0].left > 17s);
    const auto second = why(world, "second");
    REQUIRE(second.in_hand.size() == 1);
    CHECK(second.in_hand[0].state == InHandView::State::ready);
    CHECK(second.in_hand[0].lasting > 1s);
}

TEST_CASE("a success at the first attempt leaves no trace, and nobody knows a foreign id") {
    World world{orders()};
    world.publish("orders", succeeds(), with_id("m"));
    world.start();
    REQUIRE(world.run_until_settled(1min));
    const auto view = why(world, "m");
    CHECK(view.in_hand.empty());
    CHECK(view.decisions.empty());
    CHECK(view.lots == std::vector{dlq, parked});
}

TEST_CASE("of equal retries the log has one line and a sum, but each park") {
    World world{orders([](auto& queue) {
        queue.retry.delays = {5s};
        queue.retry.max = 1;
    })};
    for (int i = 0; i < 50; ++i) world.publish("orders", always_fails());
    world.start();
    REQUIRE(world.run_until_settled(1min));
    world.run_for(20s);
    CHECK(lines(world, "retries_summed_up") == 1);
    CHECK(lines(world, "parked") == 50);
    CHECK(lines(world, " retry queue=") == 1);
}

TEST_CASE("a drain by the operator ends in an idle engine, which stops at once when it is told to") {
    World world{orders()};
    for (int i = 0; i < 10; ++i) world.publish("orders", succeeds());
    world.start();
    REQUIRE(world.run_until_settled(1min));
    world.engine().drain("uid 0", world.time().now());
    REQUIRE(world.run_until([&] { return world.status().drained; }, 10s));
    world.publish("orders", succeeds());
    world.run_for(10min);
    CHECK_FALSE(world.engine().stopped());
    CHECK(world.status().ready);
    CHECK(world.broker().ready({"orders"}) == 1);
    REQUIRE(world.status().queues[0].stalls.size() == 1);
    CHECK(world.status().queues[0].stalls[0].cause == model::Cause::draining);
    const auto calls = world.timer_calls();
    world.run_for(10min);
    CHECK(world.timer_calls() == calls);  // nothing left to wake up for
    world.drain();
    CHECK(world.engine().stopped());
    CHECK(world.complaints() == std::vector<std::string>{});
}
