// What an operator orders of the guards, in model time: it holds, it ends by itself where it was given an end, and costs no
// message an attempt.

#include "sim/policies.hpp"
#include "sim/traffic.hpp"
#include "sim/world.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <string>
#include <vector>

using namespace retryd;
using namespace retryd::sim;
using Act = model::Order::Act;

namespace {

model::PolicyPtr guarded() {
    return orders([](model::QueuePolicy& queue) { with_guards(queue); });
}

model::Order order(Act act, const std::string& target, std::optional<model::Milliseconds> lasting = std::nullopt) {
    return {.act = act, .target = target, .lasting = lasting, .retries = {1}};
}

model::Order throttle(double share) {
    return {.act = Act::throttle, .target = "orders", .lasting = std::nullopt, .retries = {share}};
}

bool says(const World& world, const std::string& event, const std::string& detail) {
    return std::any_of(world.log().begin(), world.log().end(), [&](const std::string& line) {
        return line.find(event) != std::string::npos && line.find(detail) != std::string::npos;
    });
}

model::BreakerView breaker(const World& world, const std::string& name) {
    const auto all = world.status().breakers;
    return *std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.name == name; });
}

// Counts the calls; each attempt is the first.
struct Calls {
    Calls()
        : fate([this](std::uint32_t attempt, std::uint32_t) {
              CHECK(attempt == 1);
              ++count;
              return answer(200);
          }) {}
    std::uint64_t count = 0;
    Fate fate;
};

}  // namespace

TEST_CASE("a queue that is paused delivers nothing until it is resumed, and no attempt is spent") {
    World world{guarded()};
    Calls calls;
    Traffic traffic{world, "orders", 100};
    world.start();
    traffic.run_for(10s, calls.fate);
    REQUIRE(world.obey(order(Act::pause, "orders"), "uid 7"));
    world.run_for(1s);
    const auto before = calls.count;
    traffic.run_for(30min, calls.fate);
    CHECK(calls.count == before);
    const auto queue = world.status().queues[0];
    CHECK(queue.paused_by == "uid 7");
    CHECK(queue.state == "paused");
    CHECK(says(world, "operator_order", "by=uid 7"));
    REQUIRE(world.obey(order(Act::resume, "orders"), "uid 8"));
    REQUIRE(world.run_until_settled(1h));
    CHECK(world.audit().succeeded() == world.audit().enlisted());
    CHECK(world.status().queues[0].paused_by.empty());
    CHECK(world.complaints() == std::vector<std::string>{});
}

TEST_CASE("a breaker that is forced open for a while lets nothing pass, then probes, then goes on") {
    World world{guarded()};
    Calls calls;
    Traffic traffic{world, "orders", 50};
    world.start();
    traffic.run_for(12min, calls.fate);
    REQUIRE(world.obey(order(Act::open, "queue:orders", 30min), "uid 7"));
    world.run_for(1s);
    const auto before = calls.count;
    traffic.run_for(29min, calls.fate);
    CHECK(calls.count == before);
    CHECK(breaker(world, "queue:orders").state == model::BreakerState::forced_open);
    CHECK(breaker(world, "queue:orders").forced_by == "uid 7");
    CHECK(breaker(world, "queue:orders").why.find("by uid 7") == 0);
    traffic.run_for(2min, calls.fate);
    CHECK(breaker(world, "queue:orders").state == model::BreakerState::closed);
    CHECK(breaker(world, "queue:orders").forced_by.empty());
    CHECK(breaker(world, "queue:orders").recovering_at == Approx(60).margin(1));  // the backlog is no flood
    REQUIRE(world.run_until_settled(12h));
    CHECK(world.audit().succeeded() == world.audit().enlisted());
}

TEST_CASE("a breaker that is forced closed or disabled lets all pass, and counts") {
    for (const auto act : {Act::close, Act::disable}) {
        World world{guarded()};
        world.start();
        world.run_for(1s);
        REQUIRE(world.obey(order(act, "queue:orders", 1h), "uid 7"));
        for (int i = 0; i < 50; ++i) world.publish("orders", fails_then_succeeds(1));
        world.run_for(1s);
        CHECK(breaker(world, "queue:orders").failed == 50);
        CHECK_FALSE(says(world, "breaker_open", "queue:orders"));
        world.run_for(1h);
        CHECK(breaker(world, "queue:orders").state == model::BreakerState::closed);
        CHECK(world.audit().succeeded() == 50);
    }
}

TEST_CASE("a reset closes what is open at once") {
    World world{guarded()};
    bool works = false;
    for (int i = 0; i < 50; ++i)
        world.publish("orders", [&](std::uint32_t, std::uint32_t) { return answer(works ? 200 : 500); });
    world.start();
    world.run_for(1s);
    REQUIRE(breaker(world, "queue:orders").state == model::BreakerState::open);
    works = true;
    REQUIRE(world.obey(order(Act::reset, "queue:orders"), "uid 7"));
    CHECK(breaker(world, "queue:orders").state == model::BreakerState::closed);
    CHECK(breaker(world, "queue:orders").calls == 0);
    REQUIRE(world.run_until_settled(1min));
    CHECK(world.audit().succeeded() == 50);
}

TEST_CASE("a throttled lane has its share of the normal rate at once, and all of it again when it is resumed") {
    World world{orders([](model::QueuePolicy& queue) {
        with_guards(queue);
        queue.storm.reset();  // what piles up in the lane would be one
    })};
    Traffic traffic{world, "orders", 100};
    std::uint64_t again = 0;
    Chance chance{5};
    const Fate fate = [&](std::uint32_t attempt, std::uint32_t) {
        if (attempt > 1) ++again;
        return answer(attempt == 1 && chance.below(2) == 0 ? 500 : 200);
    };
    world.start();
    traffic.run_for(5min, fate);
    REQUIRE(world.obey(throttle(0.2), "uid 7"));
    CHECK(world.status().queues[0].lane_rate.value_or(0) == Approx(10).margin(1));
    again = 0;
    traffic.run_for(1min, fate);
    CHECK(again == Approx(600).margin(70));
    CHECK(world.status().queues[0].throttled_by == "uid 7");
    REQUIRE(world.obey(order(Act::resume, "orders"), "uid 7"));
    CHECK_FALSE(world.status().queues[0].lane_rate.has_value());
    REQUIRE(world.run_until_settled(1h));
    CHECK(world.audit().succeeded() == world.audit().enlisted());
}

TEST_CASE("what is not there is not obeyed") {
    World world{guarded()};
    world.start();
    CHECK_FALSE(world.obey(order(Act::open, "payments"), "uid 7"));
    CHECK_FALSE(world.obey(order(Act::pause, "bills"), "uid 7"));
    CHECK_FALSE(world.obey(order(Act::pause, "queue:orders"), "uid 7"));
}
