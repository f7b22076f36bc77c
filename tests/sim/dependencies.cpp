// What queues share behind their consumers, in model time: one breaker for all that need it, its rate, slow calls; and how many
// deliveries a consumer can have at once, found out.

#include "sim/policies.hpp"
#include "sim/traffic.hpp"
#include "sim/world.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>

using namespace retryd;
using namespace retryd::sim;

namespace {

// Two queues with guards, `orders` and `bills`; both need `db`.
std::shared_ptr<model::Policy> shared_db(const std::function<void(model::DependencyPolicy&)>& change = {}) {
    auto policy = std::make_shared<model::Policy>(*orders(with_guards));
    policy->queues.push_back(queue_policy("bills"));
    with_guards(policy->queues[1]);
    auto& db = policy->dependencies.emplace_back();
    db.name = "db";
    db.breaker.failure_rate = {0.5};
    if (change) change(db);
    for (auto& queue : policy->queues) queue.needs.push_back({0, {}});
    return policy;
}

model::BreakerView breaker(const World& world, const std::string& name) {
    const auto all = world.status().breakers;
    return *std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.name == name; });
}

Answer answer_after(std::uint16_t status, model::Microseconds after) {
    auto given = answer(status);
    given.after = after;
    return given;
}

}  // namespace

TEST_CASE("what one queue finds out about a shared dependency stops the other, too, and costs it nothing") {
    World world{shared_db()};
    bool down = false;
    std::uint64_t bills = 0, bills_failed = 0;
    const Fate order = [&](std::uint32_t, std::uint32_t) { return answer(down ? 500 : 200); };
    const Fate bill = [&](std::uint32_t attempt, std::uint32_t) {
        CHECK(attempt == 1);
        ++bills;
        if (down) ++bills_failed;
        return answer(down ? 500 : 200);
    };
    world.start();
    Traffic traffic{world, "orders", 100};
    traffic.run_for(10s, order);
    down = true;
    traffic.run_for(1s, order);
    REQUIRE(breaker(world, "db").state == model::BreakerState::open);
    for (int i = 0; i < 50; ++i) world.publish("bills", bill);
    world.run_for(5s);
    CHECK(bills == 0);
    CHECK(world.status().queues[1].state == "breaker-open");
    CHECK(breaker(world, "queue:bills").state == model::BreakerState::closed);
    down = false;
    REQUIRE(world.run_until_settled(1h));
    CHECK(bills_failed == 0);
    CHECK(world.audit().succeeded() == world.audit().enlisted());
}

TEST_CASE("a failure is held against the dependency that the reply names, and not against the others nor the consumer") {
    auto policy = shared_db();
    auto& fx = policy->dependencies.emplace_back();
    fx.name = "fx";
    fx.on_open = model::OnOpen::divert;
    policy->queues[0].needs.push_back({1, {}});
    World world{policy};
    const Fate fate = [](std::uint32_t, std::uint32_t) {
        auto given = answer(500);
        given.reply.dependency = "fx";
        return given;
    };
    for (int i = 0; i < 60; ++i) world.publish("orders", fate);
    world.start();
    world.run_for(1s);
    CHECK(breaker(world, "fx").state == model::BreakerState::open);
    CHECK(breaker(world, "db").state == model::BreakerState::closed);
    CHECK(breaker(world, "db").failed == 0);
    CHECK(breaker(world, "queue:orders").failed == 0);
}

TEST_CASE(
    "failures that replies hold against a dependency that the policy does not have are shown, and the consumer is blamed") {
    World world{shared_db()};
    world.start();
    const auto count = [&] { return world.status().breakers.size(); };
    const auto before = count();
    const Fate fate = [](std::uint32_t attempt, std::uint32_t) {
        auto given = answer(attempt == 1 ? 503 : 200);
        given.reply.dependency = "stripe";
        return given;
    };
    for (int i = 0; i < 60; ++i) world.publish("orders", i % 4 == 0 ? fate : succeeds());
    world.run_for(1s);
    REQUIRE(count() == before + 1);
    const auto other = breaker(world, "other");
    CHECK(other.state == model::BreakerState::disabled);
    CHECK(other.failed == 15);
    CHECK(other.why.find("stripe") != std::string::npos);
    CHECK(breaker(world, "db").failed == 0);
    CHECK(breaker(world, "queue:orders").failed == 15);
    CHECK_FALSE(world.obey({.act = model::Order::Act::open, .target = "other", .lasting = {}}, "uid 7"));
}

TEST_CASE("a dependency that asks to be left alone is left alone for so long") {
    World world{shared_db()};
    std::uint64_t calls = 0;
    bool throttles = true;
    const Fate fate = [&](std::uint32_t attempt, std::uint32_t) {
        CHECK(attempt == 1);
        ++calls;
        auto given = answer(throttles ? 429 : 200);
        if (throttles) {
            given.reply.dependency = "db";
            given.reply.retry_after = model::RetryAfter{5min, {}};
        }
        return given;
    };
    for (int i = 0; i < 100; ++i) world.publish("orders", fate);
    world.start();
    world.run_for(4min);
    CHECK(breaker(world, "db").state == model::BreakerState::open);
    CHECK(calls <= 16);
    throttles = false;
    REQUIRE(world.run_until_settled(1h));
    CHECK(world.audit().succeeded() == 100);
}

TEST_CASE("a dependency gets no more calls than its rate allows, from all queues together") {
    World world{shared_db([](model::DependencyPolicy& db) { db.rate = model::RatePolicy{{20, 1s}, 20}; })};
    std::uint64_t calls = 0;
    const Fate fate = [&](std::uint32_t, std::uint32_t) {
        ++calls;
        return answer(200);
    };
    for (int i = 0; i < 600; ++i) world.publish(i % 2 == 0 ? "orders" : "bills", fate);
    world.start();
    world.run_for(11s);
    CHECK(calls <= 20 * 11 + 20);
    CHECK(calls >= 20 * 10);
    REQUIRE(world.run_until_settled(1min));
    CHECK(world.audit().succeeded() == 600);
    CHECK(world.complaints() == std::vector<std::string>{});
}

TEST_CASE("calls that all succeed, but slowly, open a breaker; it closes when they are quick again") {
    World world{shared_db([](model::DependencyPolicy& db) { db.breaker.slow_call = 2s; })};
    bool slow = true;
    const Fate fate = [&](std::uint32_t, std::uint32_t) { return answer_after(200, slow ? 3s : 5ms); };
    for (int i = 0; i < 100; ++i) world.publish("orders", fate);
    world.start();
    world.run_for(10s);
    CHECK(breaker(world, "db").state == model::BreakerState::open);
    CHECK(breaker(world, "db").failed == 0);
    CHECK(breaker(world, "queue:orders").state == model::BreakerState::closed);
    slow = false;
    REQUIRE(world.run_until_settled(5min));
    CHECK(world.audit().succeeded() == 100);
    CHECK(breaker(world, "db").state == model::BreakerState::closed);
}

TEST_CASE("the concurrency grows to what the consumer can do at once, and shrinks when it cannot any more") {
    World world{orders([](model::QueuePolicy& queue) {
        queue.deliver.adaptive = model::AdaptiveConcurrency{1, 64};
        queue.deliver.concurrency = 64;
    })};
    // It has so many hands; who comes when all are busy waits.
    double hands = 8;
    const Fate fate = [&](std::uint32_t, std::uint32_t) {
        const double busy = world.status().queues[0].in_flight;
        return answer_after(200, model::Microseconds{std::llround(20'000 * std::max(1.0, busy / hands))});
    };
    for (int i = 0; i < 60'000; ++i) world.publish("orders", fate);
    const auto limit = [&] { return world.status().queues[0].concurrency; };
    world.start();
    world.run_for(100ms);
    CHECK(limit() < 4);
    std::uint32_t most = 0;
    for (int second = 0; second < 60; ++second) {
        world.run_for(1s);
        most = std::max(most, limit());
    }
    CHECK(most >= 8);
    CHECK(limit() <= 24);
    hands = 2;
    world.run_for(60s);
    CHECK(limit() <= 8);
    CHECK(world.status().queues[0].concurrency_max == 64);
}

namespace {

model::PolicyPtr with_fallbacks(std::size_t count) {
    return shared_db([count](model::DependencyPolicy& db) {
        db.on_open = model::OnOpen::fallback;
        db.fallback.resize(count);
    });
}

// Fails while the dependency is down.
Fate fate_of(const bool& down, std::uint64_t& calls) {
    return [&](std::uint32_t, std::uint32_t) {
        if (down) ++calls;
        return answer(down ? 500 : 200);
    };
}

}  // namespace

TEST_CASE("while a dependency is left alone a fallback takes what needs it, and when it is back nobody goes there") {
    World world{with_fallbacks(1)};
    world.audit().expect_uncharged_failures();
    bool down = true;
    std::uint64_t calls = 0, taken = 0;
    world.consumer().set_fallback([&](const ports::Delivery& delivery) {
        CHECK(delivery.fallback_for == "db");
        ++taken;
        return answer(200);
    });
    Traffic traffic{world, "orders", 100};
    world.start();
    traffic.run_for(1min, fate_of(down, calls));
    CHECK(taken > 5900);
    CHECK(calls < 60);
    CHECK(world.lot(lane) == 0);
    down = false;
    traffic.run_for(2min, fate_of(down, calls));
    CHECK(breaker(world, "db").state == model::BreakerState::closed);
    const auto by_then = taken;
    traffic.run_for(1min, fate_of(down, calls));
    CHECK(taken == by_then);
    REQUIRE(world.run_until_settled(1h));
    CHECK(world.audit().succeeded() == world.audit().enlisted());
    CHECK(world.complaints() == std::vector<std::string>{});
}

TEST_CASE("what a fallback cannot do is held without an attempt; of several the next is tried when one is away") {
    World world{with_fallbacks(2)};
    world.audit().expect_uncharged_failures();
    bool down = true;
    std::uint64_t calls = 0;
    world.start();
    for (int i = 0; i < 100; ++i) world.publish("orders", fate_of(down, calls));
    world.run_for(1min);  // nobody is at either
    CHECK(world.lot(parked) == 0);
    std::uint64_t first = 0, second = 0;
    world.consumer().set_fallback([&](const ports::Delivery& delivery) {
        ++(delivery.fallback->position == 0 ? first : second);
        auto given = answer(500);
        if (delivery.fallback->position == 0) given = answer(401);
        return given;
    });
    const Fate untouched = [&](std::uint32_t attempt, std::uint32_t) {
        CHECK(attempt == 1);
        return answer(down ? 500 : 200);
    };
    for (int i = 0; i < 100; ++i) world.publish("orders", untouched);
    world.run_for(3s);
    CHECK(first > 0);
    CHECK(second > first);
    down = false;
    REQUIRE(world.run_until_settled(12h));
    CHECK(world.audit().succeeded() == 200);
    CHECK(world.complaints() == std::vector<std::string>{});
}
