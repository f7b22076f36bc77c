// What the guards promise, in model time: a dependency that is dead for long, a bad deploy, a spike, a storm.

#include "sim/policies.hpp"
#include "sim/traffic.hpp"
#include "sim/world.hpp"

#include "model/header_table.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <string>
#include <vector>

using namespace retryd;
using namespace retryd::sim;

namespace {

using Complaints = std::vector<std::string>;

model::PolicyPtr guarded(const std::function<void(model::QueuePolicy&)>& change = {}) {
    return orders([&](model::QueuePolicy& queue) {
        with_guards(queue);
        queue.retry.quick = {200ms, 400ms};
        queue.retry.delays = {1s, 2s, 4s, 8s, 16s, 32s};
        queue.retry.max = 6;
        queue.deliver.slow_start = 10s;
        if (change) change(queue);
    });
}

constexpr int replicas = 10;  // daemons, one after the other: they share nothing but the queue

std::size_t given_up(World& world) {
    return world.lot(parked) + world.lot(dlq);
}

bool says(const World& world, const std::string& event, const std::string& detail) {
    return std::any_of(world.log().begin(), world.log().end(), [&](const std::string& line) {
        return line.find(event) != std::string::npos && line.find(detail) != std::string::npos;
    });
}

// A message's need, by a header of its own.
Extra needing(const std::string& provider) {
    model::TableWriter table;
    table.add_string("x-provider", provider);
    Extra extra;
    extra.headers = table.bytes();
    return extra;
}

model::PolicyPtr two_dependencies() {
    auto policy = std::make_shared<model::Policy>(*guarded());
    for (const auto* name : {"db", "fx"}) {
        auto& dependency = policy->dependencies.emplace_back();
        dependency.name = name;
        dependency.breaker.failure_rate = {0.5};
        dependency.recover.emplace();
        model::MessageMatch when;
        when.header = {{"x-provider", {*model::Pattern::parse(name)}}};
        policy->queues[0].needs.push_back({policy->dependencies.size() - 1, when});
    }
    return policy;
}

}  // namespace

TEST_CASE("a dependency that is dead for forty minutes parks nothing, is hardly called, and is not overrun afterwards") {
    std::uint64_t calls_when_dead = 0, published_when_dead = 0;
    for (int replica = 0; replica < replicas; ++replica) {
        World world{guarded(), static_cast<std::uint64_t>(replica) + 1};
        bool dead = false;
        std::uint64_t calls = 0;
        const Fate fate = [&](std::uint32_t, std::uint32_t) {
            ++calls;
            return answer(dead ? 500 : 200);
        };
        Traffic traffic{world, "orders", 50};
        world.start();
        traffic.run_for(12min, fate);
        dead = true;
        calls = 0;
        traffic.run_for(40min, fate);
        calls_when_dead += calls;
        published_when_dead += 40 * 60 * 50;
        dead = false;
        double highest = 0;
        for (int minute = 0; minute < 20; ++minute) {
            calls = 0;
            world.run_for(1min);
            highest = std::max(highest, static_cast<double>(calls) / 60);
        }
        CHECK(highest <= 50 * 1.2 * 1.01);
        CHECK(world.run_until_settled(2h));
        CHECK(world.lot(parked) == 0);
        CHECK(world.lot(dlq) == 0);
        CHECK(world.audit().succeeded() == world.audit().enlisted());
    }
    CAPTURE(calls_when_dead, published_when_dead);
    CHECK(static_cast<double>(calls_when_dead) < 0.001 * static_cast<double>(published_when_dead));
}

TEST_CASE("a bad deploy of a minute gives up two hundred messages at most, and says so at once") {
    struct Row {
        std::uint16_t status;
        const char* breaker;
    };
    for (const auto& row :
         {Row{500, "breaker=queue:orders"}, Row{404, "breaker=bad-deploy:orders"}, Row{422, "breaker=bad-deploy:orders"}}) {
        CAPTURE(row.status);
        World world{guarded()};
        bool bad = false;
        const Fate fate = [&](std::uint32_t, std::uint32_t) { return answer(bad ? row.status : 200); };
        Traffic traffic{world, "orders", 300};
        world.start();
        traffic.run_for(2min, fate);
        bad = true;
        traffic.run_for(10s, fate);
        CHECK(says(world, "breaker_open", row.breaker));
        traffic.run_for(50s, fate);
        bad = false;
        traffic.run_for(1min, fate);
        REQUIRE(world.run_until_settled(3h));
        CHECK(given_up(world) <= 200);
        CHECK(world.audit().succeeded() + given_up(world) == world.audit().enlisted());
    }
}

TEST_CASE("of two dependencies one is down for half a minute: only what needs it waits, and nothing is charged") {
    World world{two_dependencies()};
    bool down = false;
    std::uint64_t calls_when_down = 0, others = 0, others_late = 0;
    const Fate needs_fx = [&](std::uint32_t attempt, std::uint32_t) {
        if (down) ++calls_when_down;
        if (down) return answer(500);
        CHECK(attempt <= 2);  // what failed while the breaker was closed, and nothing that was held
        return answer(200);
    };
    const Fate needs_db = [&](std::uint32_t attempt, std::uint32_t) {
        ++others;
        if (attempt > 1) ++others_late;
        return answer(200);
    };
    world.start();
    const auto run = [&](std::chrono::seconds span) {
        const auto end = world.time().now().steady + span;
        while (world.time().now().steady < end) {
            world.publish("orders", needs_fx, needing("fx"));
            world.publish("orders", needs_db, needing("db"));
            world.run_for(6667us);
        }
    };
    run(120s);
    down = true;
    others = 0;
    run(30s);
    CHECK(others >= 30 * 149);  // they flow as before
    CHECK(others_late == 0);
    CHECK(static_cast<double>(calls_when_down) < 0.02 * 30 * 300);
    CHECK(says(world, "breaker_open", "breaker=fx"));
    CHECK_FALSE(says(world, "breaker_open", "breaker=db"));
    CHECK_FALSE(says(world, "breaker_open", "breaker=queue:orders"));
    down = false;
    run(60s);
    REQUIRE(world.run_until_settled(1h));
    CHECK(given_up(world) == 0);
    CHECK(world.audit().succeeded() == world.audit().enlisted());
}

TEST_CASE("a Retry-After of two hours on every first reply makes five copies of each at most, and parks nothing") {
    World world{guarded()};
    std::vector<std::uint64_t> numbers;
    for (int i = 0; i < 300; ++i) numbers.push_back(world.publish("orders", throttled_then_succeeds(1, 2h)));
    world.start();
    REQUIRE(world.run_until_settled(5h));
    for (const auto number : numbers) CHECK(world.audit().copies(number) <= 5);
    CHECK(given_up(world) == 0);
    CHECK(world.complaints() == Complaints{});
}

TEST_CASE("five times as much traffic is no storm; a fifth that fails, with a ladder that grows, is one within 90 s") {
    const auto policy = guarded([](model::QueuePolicy& queue) { queue.retry.delays = {10s, 20s, 40s, 80s, 160s, 300s}; });
    World world{policy};
    double failing = 0.01;
    Chance chance{7};
    const Fate fate = [&](std::uint32_t, std::uint32_t) {
        return answer(static_cast<double>(chance.below(1000)) < failing * 1000 ? 500 : 200);
    };
    const auto storm = [&] { return world.status().queues[0].storm; };
    Traffic traffic{world, "orders", 100};
    world.start();
    traffic.run_for(5min, fate);
    traffic.set_rate(500);
    traffic.run_for(5min, fate);
    CHECK_FALSE(says(world, "storm_state", "state=storm"));
    failing = 0.2;
    for (int second = 0; second < 90 && storm() != model::StormState::storm; ++second) traffic.run_for(1s, fate);
    CHECK(storm() == model::StormState::storm);
    CHECK(world.status().queues[0].lane_rate.has_value());
    failing = 0.01;
    traffic.run_for(10min, fate);
    CHECK(storm() != model::StormState::storm);
    CHECK_FALSE(world.status().queues[0].lane_rate.has_value());
    REQUIRE(world.run_until_settled(3h));
}

TEST_CASE("an exhausted budget keeps what would be parked, and a success lets it go on") {
    World world{guarded([](model::QueuePolicy& queue) {
        queue.breaker.reset();
        queue.retry.quick.clear();
        queue.retry.delays = {100ms};
        queue.retry.max = 1;
        queue.budgets.park = model::BudgetPolicy{0.5, 10, {0, 1min}};
        queue.budgets.dead_letter.reset();
    })};
    for (int i = 0; i < 50; ++i) world.publish("orders", always_fails());
    world.start();
    world.run_for(10min);
    CHECK(world.lot(parked) == 10);
    CHECK(world.status().queues[0].budgets.at(0).spent);
    for (int i = 0; i < 20; ++i) world.publish("orders", succeeds());
    world.run_for(4h);
    CHECK(world.lot(parked) == 20);
    for (int round = 0; round < 3; ++round) {
        for (int i = 0; i < 40; ++i) world.publish("orders", succeeds());
        world.run_for(4h);
    }
    CHECK(world.lot(parked) == 50);
}
