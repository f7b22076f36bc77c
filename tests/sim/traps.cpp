// What guards must not become, in model time: a limit that never ends, a probe that is a flood, a wait without need.

#include "sim/policies.hpp"
#include "sim/traffic.hpp"
#include "sim/world.hpp"

#include "model/header_table.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <memory>
#include <string>

using namespace retryd;
using namespace retryd::sim;

namespace {

std::shared_ptr<model::Policy> guarded() {
    return std::make_shared<model::Policy>(*orders(with_guards));
}

// `pay`, needed by messages with a header that says so.
model::DependencyPolicy& add_pay(model::Policy& policy) {
    auto& pay = policy.dependencies.emplace_back();
    pay.name = "pay";
    pay.breaker.failure_rate = {0.5};
    pay.recover.emplace();
    model::MessageMatch when;
    when.header = {{"x-provider", {*model::Pattern::parse("pay")}}};
    policy.queues[0].needs.push_back({policy.dependencies.size() - 1, when});
    return pay;
}

Extra needing_pay() {
    model::TableWriter table;
    table.add_string("x-provider", "pay");
    Extra extra;
    extra.headers = table.bytes();
    return extra;
}

model::BreakerView breaker(const World& world, const std::string& name) {
    const auto all = world.status().breakers;
    return *std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.name == name; });
}

Answer patience(std::uint16_t status, model::Milliseconds span) {
    auto given = answer(status);
    given.reply.retry_after.emplace().span = span;
    return given;
}

}  // namespace

TEST_CASE("where the rate of before is not known an outage leaves no limit behind, however often it opens again") {
    World world{guarded()};
    bool down = false;
    const Fate fate = [&](std::uint32_t, std::uint32_t) { return answer(down ? 500 : 200); };
    world.start();
    world.run_for(std::chrono::seconds{GENERATE(range(0, 60, 10))});  // rates are taken of whole minutes
    Traffic traffic{world, "orders", 20};
    traffic.run_for(13s, fate);
    down = true;
    traffic.run_for(65s, fate);
    down = false;
    traffic.run_for(80s, fate);
    CHECK(breaker(world, "queue:orders").state == model::BreakerState::closed);
    CHECK(breaker(world, "queue:orders").recovering_at == 0);
    CHECK(world.run_until_settled(10min));
    CHECK(world.audit().succeeded() == world.audit().enlisted());
}

TEST_CASE("what comes faster than before the outage is not held to the rate of before for ever") {
    World world{guarded()};
    bool down = false;
    const Fate fate = [&](std::uint32_t, std::uint32_t) { return answer(down ? 500 : 200); };
    world.start();
    Traffic traffic{world, "orders", 5};
    traffic.run_for(12min, fate);
    down = true;
    traffic.run_for(1min, fate);
    down = false;
    traffic.set_rate(30);
    traffic.run_for(90s, fate);
    CHECK(breaker(world, "queue:orders").recovering_at > 0);
    traffic.run_for(1h, fate);
    CHECK(breaker(world, "queue:orders").recovering_at == 0);
    CHECK(world.run_until_settled(1min));
}

TEST_CASE("while it recovers that is told, and a reset ends it") {
    World world{guarded()};
    bool down = false;
    const Fate fate = [&](std::uint32_t, std::uint32_t) { return answer(down ? 500 : 200); };
    world.start();
    Traffic traffic{world, "orders", 20};
    traffic.run_for(12min, fate);
    down = true;
    traffic.run_for(1min, fate);
    down = false;
    traffic.run_for(30s, fate);
    REQUIRE(breaker(world, "queue:orders").recovering_at > 0);
    const auto stalls = world.status().queues[0].stalls;
    CHECK(std::any_of(stalls.begin(), stalls.end(), [](const auto& one) {
        return one.cause == model::Cause::rate && one.detail.find("queue:orders is back") == 0;
    }));
    REQUIRE(world.obey({.act = model::Order::Act::reset, .target = "queue:orders", .lasting = {}}, "uid 7"));
    CHECK(breaker(world, "queue:orders").recovering_at == 0);
}

TEST_CASE("a probe that is asked for patience is judged, and no other goes in its stead") {
    const std::uint16_t status = GENERATE(std::uint16_t{429}, std::uint16_t{503});
    World world{guarded()};
    std::uint64_t calls = 0;
    bool patient = false;
    const Fate fate = [&](std::uint32_t, std::uint32_t) {
        ++calls;
        return patient ? patience(status, 2s) : answer(500);
    };
    world.start();
    for (int i = 0; i < 500; ++i) world.publish("orders", fate);
    world.run_for(2s);
    REQUIRE(breaker(world, "queue:orders").state == model::BreakerState::open);
    patient = true;
    calls = 0;
    world.run_for(2min);
    CHECK(calls > 0);
    CHECK(calls <= 40);  // three probes at a time
}

TEST_CASE("a probe that fails of another dependency says nothing of its own, and is none any more") {
    auto policy = guarded();
    add_pay(*policy).on_open = model::OnOpen::divert;
    auto& fx = policy->dependencies.emplace_back();
    fx.name = "fx";
    policy->queues[0].needs.push_back({1, {}});
    World world{policy};
    std::string blamed = "pay";
    std::uint64_t calls = 0;
    const Fate fate = [&](std::uint32_t, std::uint32_t) {
        ++calls;
        auto given = answer(blamed.empty() ? 422 : 500);
        given.reply.dependency = blamed;
        return given;
    };
    world.start();
    for (int i = 0; i < 300; ++i) world.publish("orders", fate, needing_pay());
    world.run_for(2s);
    REQUIRE(breaker(world, "pay").state == model::BreakerState::open);
    blamed = "";  // refused, and that says nothing of pay
    calls = 0;
    world.run_for(1min);
    CHECK(breaker(world, "pay").state == model::BreakerState::closed);
}

TEST_CASE("what waits for the rate of a dependency comes back soon, and the rate is used") {
    auto policy = guarded();
    auto& pay = add_pay(*policy);
    pay.rate = model::RatePolicy{{20, 1s}, 20};
    World world{policy};
    world.start();
    for (int i = 0; i < 1000; ++i) world.publish("orders", succeeds(), needing_pay());
    CHECK(world.run_until_settled(100s));
    CHECK(world.audit().succeeded() == 1000);
}

TEST_CASE("failures of a dependency that would stop none of these messages open the queue's own breaker") {
    const bool matches_others = GENERATE(false, true);
    auto policy = guarded();
    add_pay(*policy);
    if (!matches_others) policy->queues[0].needs.clear();
    World world{policy};
    std::uint64_t calls = 0;
    const Fate fate = [&](std::uint32_t, std::uint32_t) {
        ++calls;
        auto given = answer(500);
        given.reply.dependency = "pay";
        return given;
    };
    world.start();
    for (int i = 0; i < 300; ++i) world.publish("orders", fate);
    world.run_for(5s);
    CHECK(breaker(world, "queue:orders").state != model::BreakerState::closed);
    CHECK(calls < 100);
    CHECK(world.lot(parked) == 0);
}

TEST_CASE("what an open breaker puts aside is not parked for the time that it waits") {
    auto policy = guarded();
    add_pay(*policy);
    policy->queues[0].hold.delays = {1s};
    policy->queues[0].hold.max = 2s;
    World world{policy};
    world.start();
    REQUIRE(world.obey({.act = model::Order::Act::open, .target = "pay", .lasting = 30s}, "uid 7"));
    for (int i = 0; i < 150; ++i) world.publish("orders", succeeds(), needing_pay());
    world.run_for(29s);
    CHECK(world.lot(parked) == 0);
    CHECK(world.run_until_settled(1min));
    CHECK(world.audit().succeeded() == 150);
}
