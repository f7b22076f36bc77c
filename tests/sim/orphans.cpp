// A channel dies while messages are at the consumer: each is handled once all the same.

#include "sim/policies.hpp"
#include "sim/world.hpp"

#include <catch2/catch.hpp>

#include <algorithm>

using namespace retryd;
using namespace retryd::sim;

namespace {

using Complaints = std::vector<std::string>;
constexpr model::QueueId first_queue{0};
constexpr int sixteen = 16;

Answer late(std::uint16_t status, model::Microseconds after) {
    auto made = answer(status);
    made.after = after;
    return made;
}

// All at the consumer at once.
void fill(World& world, const Fate& fate) {
    for (int i = 0; i < sixteen; ++i) world.publish("orders", fate);
    world.start();
    REQUIRE(world.run_until([&] { return world.consumer().in_flight() == sixteen; }, 1s));
}

std::size_t lines(const World& world, std::string_view event) {
    return static_cast<std::size_t>(std::count_if(world.log().begin(), world.log().end(), [&](const std::string& line) {
        return line.find(event) != std::string::npos;
    }));
}

}  // namespace

TEST_CASE("what succeeds while the link is down, or after its return, is not delivered again") {
    const std::uint64_t seed = GENERATE(range(1U, 31U));
    const model::Microseconds takes = GENERATE(10ms, 60ms, 3s);
    World world(orders(), seed);
    fill(world, always(late(200, takes)));
    world.broker().cut(ports::Link::consume);
    REQUIRE(world.run_until_settled(1min));
    CHECK(world.audit().calls() == sixteen);
    CHECK(world.audit().duplicates() == 0);
    CHECK(world.complaints() == Complaints{});
}

TEST_CASE("so it is when the broker restarts, closes the channel, or breaks the link again and again") {
    const std::uint64_t seed = GENERATE(range(1U, 11U));
    World world(orders(), seed);
    fill(world, always(late(200, 3s)));
    SECTION("a restart") {
        world.broker().run(false);
        world.run_for(2s);
        world.broker().run(true);
    }
    SECTION("the channel") {
        world.broker().close_source({first_queue, model::Side::work}, 406, "delivery acknowledgement timed out");
    }
    SECTION("again and again") {
        for (int i = 0; i < 20; ++i) {
            world.broker().cut(ports::Link::consume);
            world.run_for(100ms);
        }
    }
    REQUIRE(world.run_until_settled(1min));
    CHECK(world.audit().calls() == sixteen);
    CHECK(world.complaints() == Complaints{});
}

TEST_CASE("what fails after its message has come again is counted once and retried once") {
    const std::uint64_t seed = GENERATE(range(1U, 11U));
    World world(orders(), seed);
    fill(world, then_succeeds(1, late(500, 3s)));
    world.broker().cut(ports::Link::consume);
    REQUIRE(world.run_until_settled(1min));
    CHECK(world.audit().calls() == 2 * sixteen);
    for (std::uint64_t number = 1; number <= sixteen; ++number) CHECK(world.audit().copies(number) == 1);
    CHECK(world.complaints() == Complaints{});
}

TEST_CASE("a copy that was on its way when the link broke stands for its original") {
    const std::uint64_t seed = GENERATE(range(1U, 51U));
    World world(orders(), seed);
    const auto number = world.publish("orders", fails_then_succeeds(1));
    world.start();
    // Declared, so that the copy itself is under way.
    REQUIRE(world.run_until([&] { return world.audit().copies(number) == 1; }, 1s));
    world.broker().cut(ports::Link::consume);
    REQUIRE(world.run_until_settled(1min));
    CHECK(world.audit().calls() == 2);
    CHECK(world.audit().copies(number) == 1);
    CHECK(world.complaints() == Complaints{});
}

TEST_CASE("after five minutes nobody remembers, and what was done is done once more") {
    World world{orders()};
    fill(world, always(late(200, 10ms)));
    world.broker().run(false);
    const auto away = GENERATE(4min, 6min);
    world.run_for(away);
    world.broker().run(true);
    REQUIRE(world.run_until_settled(1min));
    CHECK(world.audit().calls() == (away < 5min ? sixteen : 2 * sixteen));
    CHECK(lines(world, "settled_late") == (away < 5min ? 1 : 0));
    CHECK(world.complaints() == Complaints{});
}

TEST_CASE("of twins without an id each is handled once, whichever of them comes again") {
    const std::uint64_t seed = GENERATE(range(1U, 11U));
    World world(orders([](auto& queue) { queue.deliver.concurrency = 2; }), seed);
    for (int i = 0; i < 4; ++i) world.broker().publish({"orders"}, {"", "orders", false}, {std::string(2, '\0'), "twin"});
    world.start();
    REQUIRE(world.run_until([&] { return world.consumer().in_flight() == 2; }, 1s));
    world.broker().cut(ports::Link::consume);
    REQUIRE(world.run_until_settled(1min));
    CHECK(world.engine().figures().queues[0].deliveries[static_cast<std::size_t>(model::Outcome::success)] == 4);
    CHECK(world.complaints() == Complaints{});
}
