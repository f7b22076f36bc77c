// The plain life of messages, without faults: every count is exact.

#include "sim/policies.hpp"
#include "sim/world.hpp"

#include <catch2/catch.hpp>

using namespace retryd;
using namespace retryd::sim;

namespace {

using Complaints = std::vector<std::string>;

Fate one_of_the_mixture(std::uint64_t number) {
    const auto twentieth = number % 20;
    if (twentieth < 14) return succeeds();
    if (twentieth < 18) return fails_then_succeeds(2);
    return twentieth == 18 ? is_permanent() : always_fails();
}

}  // namespace

TEST_CASE("of a mixture each message is called exactly as often as it should be") {
    const std::uint32_t quick_tries = GENERATE(0U, 2U);
    World world{orders([&](auto& queue) { queue.retry.quick.assign(quick_tries, 200ms); })};
    for (std::uint64_t n = 1; n <= 1000; ++n) world.publish("orders", one_of_the_mixture(n));
    world.start();
    REQUIRE(world.run_until_settled(1min));
    CHECK(world.complaints() == Complaints{});
    CHECK(world.audit().succeeded() == 900);
    CHECK(world.audit().duplicates() == 0);
    CHECK(world.lot(dlq) == 50);
    CHECK(world.lot(parked) == 50);
    const std::size_t exhausted_calls = 1 + quick_tries + 3;
    CHECK(world.audit().calls() == 700 + 200 * 3 + 50 + 50 * exhausted_calls);
    CHECK(world.audit().calls(19) == exhausted_calls);
}

TEST_CASE("an empty body is a message like any other") {
    World world{orders()};
    world.broker().publish({"orders"}, {"", "orders", false}, {std::string(2, '\0'), ""});
    world.start();
    world.run_until([&] { return world.consumer().in_flight() == 1; }, 1s);
    REQUIRE(world.run_until_settled(1min));
    CHECK(world.consumer().most_in_flight() == 1);
    CHECK(world.complaints() == Complaints{});
}

TEST_CASE("no more is handed over at once than the concurrency allows, and it is used") {
    World world{orders([](auto& queue) { queue.deliver.concurrency = 4; })};
    for (int i = 0; i < 200; ++i) world.publish("orders", fails_then_succeeds(1));
    world.start();
    REQUIRE(world.run_until_settled(1min));
    CHECK(world.consumer().most_in_flight() == 4);
    CHECK(world.complaints() == Complaints{});
}

TEST_CASE("what waits in a delay queue comes back inside its rung's band") {
    World world{orders([](auto& queue) { queue.retry.delays = {10s}; })};
    for (int i = 0; i < 50; ++i) world.publish("orders", fails_then_succeeds(1));
    world.start();
    REQUIRE(world.run_until([&] { return world.audit().calls() == 50; }, 2s));
    world.run_until([&] { return world.audit().calls() > 50; }, 1min);
    CHECK(world.time().now().steady.time_since_epoch() >= 8s);
    REQUIRE(world.run_until_settled(1min));
    CHECK(world.time().now().steady.time_since_epoch() <= 12s + 150ms);
}
