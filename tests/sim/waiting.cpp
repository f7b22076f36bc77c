// What waits, how long, and where it goes when it has waited enough.

#include "sim/policies.hpp"
#include "sim/world.hpp"

#include "model/header_table.hpp"
#include "model/properties.hpp"

#include <catch2/catch.hpp>

#include <algorithm>

using namespace retryd;
using namespace retryd::sim;

namespace {

using Complaints = std::vector<std::string>;

// The retryd-reason of everything that lies in the parking lot.
std::vector<std::string> reasons(World& world) {
    std::vector<std::string> found;
    world.broker().each_message([&](const model::QueueName& queue, const Stored& stored) {
        if (queue != parked) return;
        const auto properties = model::read_properties(stored.message->properties);
        const auto headers = model::read_table(*properties->headers);
        const auto* reason = model::find_header(*headers, "retryd-reason");
        found.emplace_back(reason == nullptr ? "none" : *model::content(reason->value));
    });
    return found;
}

using Reasons = std::vector<std::string>;

// How long after now everything that waits may not come back, by its own record.
std::vector<model::Milliseconds> waits(World& world) {
    std::vector<model::Milliseconds> found;
    const auto now = world.time().now().wall;
    world.broker().each_message([&](const model::QueueName&, const Stored& stored) {
        const auto record = model::read_record(*stored.message, stored.arrival, model::Side::lane, now);
        if (record && record->ledger.not_before) found.push_back(*record->ledger.not_before - now);
    });
    return found;
}

}  // namespace

TEST_CASE("a herd with one Retry-After is spread over [R, R(1+2j)] and none comes back earlier") {
    World world{orders()};
    std::vector<model::SteadyTime> second;
    const auto told = throttled_then_succeeds(1, 60s);
    const Fate fate = [&](std::uint32_t attempt, std::uint32_t call) {
        if (call == 2) second.push_back(world.time().now().steady);
        return told(attempt, call);
    };
    for (int i = 0; i < 300; ++i) world.publish("orders", fate);
    world.start();
    world.run_for(1s);
    const auto spread = waits(world);
    REQUIRE(spread.size() == 300);
    const auto [least, most] = std::minmax_element(spread.begin(), spread.end());
    CHECK((*least >= 59s && *least < 62s));
    CHECK((*most > 82s && *most <= 84s));
    REQUIRE(world.run_until_settled(10min));
    REQUIRE(second.size() == 300);
    CHECK(second.front().time_since_epoch() >= 60s);
    CHECK(second.back().time_since_epoch() <= 85s * 6 / 5);  // a rung may overshoot by a fifth
    CHECK(world.complaints() == Complaints{});
}

TEST_CASE("a Retry-After of six hours takes five hops at most") {
    World world{orders()};
    std::vector<std::uint64_t> numbers;
    for (int i = 0; i < 50; ++i) numbers.push_back(world.publish("orders", throttled_then_succeeds(1, 6h)));
    world.start();
    REQUIRE(world.run_until_settled(12h));
    for (const auto number : numbers) CHECK(world.audit().copies(number) <= 5);
    CHECK(world.complaints() == Complaints{});
}

TEST_CASE("no delay is scheduled past the message's own expiry") {
    World world{orders([](auto& queue) { queue.retry.delays = {1min}; })};
    Extra extra;
    extra.expiration = "5000";
    world.publish("orders", always_fails(), extra);
    world.start();
    REQUIRE(world.run_until_settled(2s));
    CHECK(reasons(world) == Reasons{"expired"});
    CHECK(world.complaints() == Complaints{});
}

TEST_CASE("a message over its age limit is parked as age") {
    World world{orders([](auto& queue) {
        queue.retry.max = 100;
        queue.age_limit = 3s;
    })};
    world.publish("orders", always_fails());
    world.start();
    REQUIRE(world.run_until_settled(1min));
    CHECK(reasons(world) == Reasons{"age"});
    CHECK(world.audit().calls() < 15);
    CHECK(world.complaints() == Complaints{});
}

TEST_CASE("a message that was held too long in all is parked as held, without an attempt") {
    World world{orders([](auto& queue) { queue.hold.max = 2min; })};
    world.publish("orders", throttled_then_succeeds(1000, 30s));
    world.start();
    REQUIRE(world.run_until_settled(1h));
    CHECK(reasons(world) == Reasons{"held"});
    CHECK(world.complaints() == Complaints{});
}

TEST_CASE("a lane that was deleted is made again, and what waited in the tiers arrives") {
    World world{orders([](auto& queue) { queue.retry.delays = {5s}; })};
    for (int i = 0; i < 20; ++i) world.publish("orders", fails_then_succeeds(1));
    world.start();
    REQUIRE(world.run_until([&] { return world.audit().calls() == 20; }, 2s));
    world.run_for(1s);
    world.broker().remove(lane);
    REQUIRE(world.run_until_settled(5min));
    CHECK(world.audit().succeeded() == 20);
    CHECK(world.complaints() == Complaints{});
}

TEST_CASE("while both wait the lane has its share of the slots, and no more") {
    World world{orders([](auto& queue) {
        queue.deliver.concurrency = 8;
        queue.retry.delays = {100ms};
        queue.retry.spread = 1;
    })};
    std::size_t retried = 0;
    std::size_t fresh_left = 2000;
    const Fate fate = [&](std::uint32_t, std::uint32_t call) {
        if (call > 1 && fresh_left > 0) ++retried;
        if (call == 1) --fresh_left;
        return answer(call == 1 ? 500 : 200);
    };
    for (int i = 0; i < 2000; ++i) world.publish("orders", fate);
    world.start();
    REQUIRE(world.run_until_settled(10min));
    CHECK(retried > 300);
    CHECK(retried < 800);
    CHECK(world.complaints() == Complaints{});
}
