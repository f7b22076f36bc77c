// Messages that take the consumer or the daemon down: they end alone, and nobody pays for them.

#include "sim/policies.hpp"
#include "sim/world.hpp"

#include <catch2/catch.hpp>

#include <map>

using namespace retryd;
using namespace retryd::sim;

namespace {

using Complaints = std::vector<std::string>;
constexpr model::QueueId first_queue{0};

Answer never() {
    auto answer = sim::answer(200);
    answer.after.reset();
    return answer;
}

// Takes the consumer down, which is back two seconds later.
Fate kills_the_consumer(World& world, std::uint32_t times = 1000) {
    return [&world, times](std::uint32_t, std::uint32_t call) {
        if (call > times) return answer(200);
        world.time().after(1ms, [&world] { world.consumer().go_away(first_queue); });
        world.time().after(2s, [&world] { world.consumer().come_back(first_queue); });
        return never();
    };
}

Fate kills_the_daemon(World& world, std::uint32_t times = 1000) {
    return [&world, times](std::uint32_t, std::uint32_t call) {
        if (call > times) return answer(200);
        world.time().after(10ms, [&world] { world.crash(); });
        return never();
    };
}

// Works for a while; remembers the greatest attempt that it was told.
struct Innocents {
    std::uint32_t greatest_attempt = 0;
    Fate fate() {
        return [this](std::uint32_t attempt, std::uint32_t) {
            greatest_attempt = std::max(greatest_attempt, attempt);
            auto slow = answer(200);
            slow.after = 50ms;
            return slow;
        };
    }
};

bool was_logged(const World& world, const std::string& words) {
    return std::any_of(world.log().begin(), world.log().end(),
                       [&](const std::string& line) { return line.find(words) != std::string::npos; });
}

}  // namespace

TEST_CASE("of sixteen at the consumer that one kills, fifteen finish uncharged and the one is parked as poison") {
    World world{orders()};
    Innocents innocents;
    for (int i = 0; i < 7; ++i) world.publish("orders", innocents.fate());
    world.publish("orders", kills_the_consumer(world));
    for (int i = 0; i < 8; ++i) world.publish("orders", innocents.fate());
    world.start();
    REQUIRE(world.run_until_settled(5min));
    CHECK(world.audit().succeeded() == 15);
    CHECK(innocents.greatest_attempt == 1);
    CHECK(world.lot(parked) == 1);
    CHECK(was_logged(world, "poison"));
    CHECK(was_logged(world, "delivered alone 2 times, and each time the consumer or retryd died without a reply"));
    CHECK(world.complaints() == Complaints{});
}

TEST_CASE("what kills the daemon is parked as poison, and whoever was in its hand finishes uncharged") {
    World world{orders()};
    Innocents innocents;
    for (int i = 0; i < 20; ++i) world.publish("orders", innocents.fate());
    world.publish("orders", kills_the_daemon(world));
    for (int i = 0; i < 20; ++i) world.publish("orders", innocents.fate());
    world.start();
    REQUIRE(world.run_until_settled(10min));
    CHECK(world.audit().succeeded() == 40);
    CHECK(innocents.greatest_attempt == 1);
    CHECK(world.lot(parked) == 1);
    CHECK(world.complaints() == Complaints{});
}

TEST_CASE("two that kill are both found") {
    World world{orders()};
    Innocents innocents;
    for (int i = 0; i < 30; ++i)
        world.publish("orders", i == 3 ? kills_the_consumer(world) : i == 9 ? kills_the_daemon(world) : innocents.fate());
    world.start();
    REQUIRE(world.run_until_settled(20min));
    CHECK(world.audit().succeeded() == 28);
    CHECK(innocents.greatest_attempt == 1);
    CHECK(world.lot(parked) == 2);
}

TEST_CASE("what kills the consumer twice and then works succeeds") {
    World world{orders()};
    Innocents innocents;
    for (int i = 0; i < 15; ++i) world.publish("orders", innocents.fate());
    world.publish("orders", kills_the_consumer(world, 2));
    world.start();
    REQUIRE(world.run_until_settled(5min));
    CHECK(world.audit().succeeded() == 16);
    CHECK(world.lot(parked) == 0);
    CHECK(innocents.greatest_attempt == 1);
}

TEST_CASE("a daemon that is drained again and again makes nobody poison") {
    World world{orders([](auto& queue) { queue.deliver.concurrency = 2; })};
    Innocents innocents;
    for (int i = 0; i < 60; ++i) world.publish("orders", innocents.fate());
    world.start();
    for (int i = 0; i < 12; ++i) {
        world.run_for(30ms + i * 7ms);
        world.drain();
        REQUIRE(world.run_until([&] { return world.engine().stopped(); }, 30s));
        world.start();
    }
    REQUIRE(world.run_until_settled(5min));
    CHECK(world.audit().succeeded() == 60);
    CHECK(world.lot(parked) == 0);
    CHECK(innocents.greatest_attempt == 1);
    CHECK(world.complaints() == Complaints{});
}

TEST_CASE("a link that breaks in every trial is not held against the message") {
    World world{orders()};
    Innocents innocents;
    for (int i = 0; i < 6; ++i) world.publish("orders", innocents.fate());
    world.start();
    for (int i = 0; i < 12; ++i) {
        world.run_for(20ms);
        world.broker().run(false);
        world.run_for(1s);
        world.broker().run(true);
        world.run_for(1s);
    }
    REQUIRE(world.run_until_settled(5min));
    CHECK(world.lot(parked) == 0);
    CHECK(world.audit().succeeded() >= 6);
}

TEST_CASE("the trusted go on while suspects wait") {
    World world{orders()};
    Innocents innocents;
    for (int i = 0; i < 16; ++i) world.publish("orders", i == 5 ? kills_the_consumer(world) : innocents.fate());
    world.start();
    world.run_for(6s);  // both deaths are over
    for (int i = 0; i < 400; ++i) world.publish("orders", innocents.fate());
    REQUIRE(world.run_until_settled(5min));
    CHECK(world.audit().succeeded() == 415);
    CHECK(world.lot(parked) == 1);
    CHECK(innocents.greatest_attempt == 1);
}
