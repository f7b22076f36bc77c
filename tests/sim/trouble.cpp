// What breaks for a while: nothing is parked for it, nothing is counted for it, nothing spins.

#include "sim/policies.hpp"
#include "sim/world.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <map>

using namespace retryd;
using namespace retryd::sim;

namespace {

using Complaints = std::vector<std::string>;
constexpr model::QueueId first_queue{0};

// The attempts that each message was told at its second call.
struct SecondAttempts {
    std::vector<std::uint32_t> told;
    Fate after(Answer first) {
        return [this, first](std::uint32_t attempt, std::uint32_t call) {
            if (call == 2) told.push_back(attempt);
            return call == 1 ? first : answer(200);
        };
    }
};

}  // namespace

TEST_CASE("a consumer that is away for an hour costs no attempt, parks nothing and keeps nobody busy") {
    World world{orders()};
    world.consumer().go_away(first_queue);
    for (int i = 0; i < 500; ++i) world.publish("orders", succeeds());
    world.start();
    world.run_for(1h);
    CHECK(world.timer_calls() < 20 * 3600);
    CHECK(world.consumer().probes() < 3600);
    CHECK(world.audit().calls() == 0);
    CHECK(world.lot(parked) + world.lot(dlq) == 0);
    world.consumer().come_back(first_queue);
    REQUIRE(world.run_until_settled(1min));
    CHECK(world.audit().calls() == 500);
    CHECK(world.complaints() == Complaints{});
}

TEST_CASE("a consumer that restarts in the middle of its work loses no message") {
    World world{orders()};
    for (int i = 0; i < 200; ++i) world.publish("orders", succeeds());
    world.start();
    for (int i = 0; i < 5; ++i) {
        world.run_for(20ms);
        world.consumer().go_away(first_queue);
        world.run_for(2s);
        world.consumer().come_back(first_queue);
    }
    REQUIRE(world.run_until_settled(10min));
    CHECK(world.audit().succeeded() == 200);
    CHECK(world.complaints() == Complaints{});
}

TEST_CASE("a broker that is down for an hour keeps nobody busy, and everything goes on afterwards") {
    World world{orders()};
    for (int i = 0; i < 100; ++i) world.publish("orders", fails_then_succeeds(2));
    world.start();
    world.run_for(50ms);
    world.broker().run(false);
    world.run_for(1h);
    CHECK(world.timer_calls() < 20 * 3600);
    world.broker().run(true);
    REQUIRE(world.run_until_settled(10min));
    CHECK(world.audit().succeeded() == 100);
    CHECK(world.lot(parked) == 0);
    CHECK(world.complaints() == Complaints{});
}

TEST_CASE("a loss while others are in flight charges nobody") {
    World world{orders()};
    SecondAttempts attempts;
    for (int i = 0; i < 5; ++i) world.publish("orders", attempts.after(breaks_off()));
    auto slow = answer(200);
    slow.after = 1s;
    world.publish("orders", always(slow));
    world.start();
    REQUIRE(world.run_until_settled(1min));
    CHECK(attempts.told == std::vector<std::uint32_t>(5, 1));
    CHECK(world.complaints() == Complaints{});
}

TEST_CASE("a loss alone is the message's own") {
    World world{orders()};
    SecondAttempts attempts;
    world.publish("orders", attempts.after(breaks_off()));
    world.start();
    REQUIRE(world.run_until_settled(1min));
    CHECK(attempts.told == std::vector<std::uint32_t>{2});
}

TEST_CASE("a drain finishes what is at the consumer and gives back the rest, uncounted") {
    World world{orders([](auto& queue) { queue.deliver.concurrency = 2; })};
    auto slow = answer(200);
    slow.after = 1s;
    for (int i = 0; i < 10; ++i) world.publish("orders", always(slow));
    world.start();
    world.run_for(100ms);
    world.drain();
    REQUIRE(world.run_until([&] { return world.engine().stopped(); }, 10s));
    CHECK(world.audit().succeeded() == 2);
    CHECK(world.broker().ready({"orders"}) == 8);
    CHECK(world.lot(parked) == 0);
    world.start();
    REQUIRE(world.run_until_settled(1min));
    CHECK(world.audit().calls() == 10);
    CHECK(world.complaints() == Complaints{});
}

TEST_CASE("a drain that waits for the consumer does not make the timer spin") {
    const bool breaks = GENERATE(false, true);
    World world{orders([](auto& queue) { queue.deliver.timeout = 1min; })};
    auto slow = answer(200);
    slow.after = 40s;  // over more than one look at the depths
    world.publish("orders", always(slow));
    world.start();
    world.run_for(100ms);
    world.drain();
    if (breaks) world.broker().cut(ports::Link::consume);
    const auto calls = world.timer_calls();
    REQUIRE(world.run_until([&] { return world.engine().stopped(); }, 2min));
    CHECK(world.timer_calls() - calls < 50);
    CHECK(world.audit().succeeded() == 1);
    CHECK(world.complaints() == Complaints{});
}

TEST_CASE("a copy that cannot leave before the drain is over is given up, and its original goes back") {
    const bool alarm_ends = GENERATE(false, true);
    World world{orders([](auto& queue) { queue.deliver.timeout = 1s; })};
    world.publish("orders", fails_then_succeeds(1));
    world.broker().block_publishing(true);
    world.start();
    REQUIRE(world.run_until([&] { return world.status().queues[0].being_copied == 1; }, 1s));
    world.drain();
    REQUIRE(world.run_until([&] { return world.status().queues[0].being_copied == 0; }, 5s));
    if (alarm_ends) world.broker().block_publishing(false);  // before the link is closed
    REQUIRE(world.run_until([&] { return world.engine().stopped(); }, 10s));
    CHECK(world.broker().ready({"orders"}) == 1);
    world.broker().block_publishing(false);
    world.start();
    REQUIRE(world.run_until_settled(1min));
    CHECK(world.audit().succeeded() == 1);
    CHECK(world.complaints() == Complaints{});
}

TEST_CASE("while publishing is blocked failing messages stay in hand, and intake pauses at half the prefetch") {
    World world{orders([](auto& queue) {
        queue.prefetch = 20;
        queue.deliver.concurrency = 1;
    })};
    for (int i = 0; i < 100; ++i) world.publish("orders", fails_then_succeeds(1));
    world.broker().block_publishing(true);
    world.start();
    world.run_for(1min);
    CHECK(world.audit().calls() >= 10);
    CHECK(world.audit().calls() <= 20);
    CHECK_FALSE(world.status().queues[0].subscribed_work);
    CHECK(world.broker().unacked() <= 20);
    world.broker().block_publishing(false);
    REQUIRE(world.run_until_settled(1min));
    CHECK(world.audit().succeeded() == 100);
    CHECK(world.complaints() == Complaints{});
}

TEST_CASE("a tier that nacks is tried again and again, slowly, and in the end it is served") {
    World world{orders([](auto& queue) {
        queue.retry.spread = 1;
        queue.retry.jitter = {0};
    })};
    const auto tier = model::tier_queue(world.policy().queues[0], model::TierKind::delay, 100ms);
    world.broker().declare(tier);
    world.broker().nack_copies_to(tier.name, true);
    const auto number = world.publish("orders", fails_then_succeeds(1));
    world.start();
    world.run_for(5min);
    CHECK(world.audit().copies(number) == 0);
    CHECK(world.broker().unacked() == 1);
    CHECK(world.timer_calls() < 1000);
    world.broker().nack_copies_to(tier.name, false);
    REQUIRE(world.run_until_settled(1min));
    CHECK(world.audit().calls(number) == 2);
    CHECK(world.complaints() == Complaints{});
}

TEST_CASE("a tier that nacks for as long as the link lives gets another link, and nothing comes twice") {
    World world{orders([](auto& queue) { queue.retry.spread = 1; })};
    for (const auto wait : {100ms, 200ms, 400ms})
        world.broker().declare(model::tier_queue(world.policy().queues[0], model::TierKind::delay, wait));
    world.start();
    world.run_for(1s);
    const auto tier = model::tier_queue(world.policy().queues[0], model::TierKind::delay, 100ms);
    world.broker().nack_copies_on_this_link(tier.name);
    for (int i = 0; i < 600; ++i) {
        world.publish("orders", fails_then_succeeds(i % 2));
        world.run_for(100ms);
    }
    REQUIRE(world.run_until_settled(1min));
    CHECK(world.audit().succeeded() == 600);
    CHECK(world.complaints() == Complaints{});
    CHECK(std::count_if(world.log().begin(), world.log().end(),
                        [](const std::string& line) { return line.find("only_nacks") != std::string::npos; }) == 1);
}

TEST_CASE("a body that the broker refuses on the way back stays in hand and stops nobody else") {
    World world{orders()};
    Extra big;
    big.body_size = 2000;
    world.publish("orders", fails_then_succeeds(1), big);
    for (int i = 0; i < 10; ++i) world.publish("orders", fails_then_succeeds(1));
    world.broker().limit_body(model::ByteCount{1000});
    world.start();
    world.run_for(1min);
    CHECK(world.audit().succeeded() == 10);
    CHECK(world.broker().unacked() == 1);
    CHECK(world.timer_calls() < 1000);
    world.broker().limit_body(std::nullopt);
    world.crash();
    REQUIRE(world.run_until_settled(1min));
    CHECK(world.audit().succeeded() == 11);
    CHECK(world.complaints() == Complaints{});
}

TEST_CASE("a refused login is tried again at leisure") {
    World world{orders()};
    world.broker().refuse_logins(true);
    world.publish("orders", succeeds());
    world.start();
    world.run_for(10min);
    CHECK(world.engine().refused());
    CHECK(world.timer_calls() < 600);
    world.broker().refuse_logins(false);
    CHECK(world.run_until_settled(2min));
}

TEST_CASE("the wall clock may jump, and no attempt is lost or won by it") {
    const auto jump = GENERATE(model::Milliseconds{1h}, model::Milliseconds{24h});
    const auto history = GENERATE(10U, 0U);
    World world{orders([history](auto& queue) { queue.history = history; })};
    for (int i = 0; i < 50; ++i) world.publish("orders", fails_then_succeeds(2));
    world.start();
    world.run_for(60ms);
    world.time().step_wall(-jump);
    world.run_for(60ms);
    world.time().step_wall(2 * jump);
    world.run_for(2s);
    world.time().step_wall(-jump);
    REQUIRE(world.run_until_settled(10min));
    CHECK(world.audit().succeeded() == 50);
    CHECK(world.audit().calls() == 150);
    CHECK(world.complaints() == Complaints{});
}

TEST_CASE("a channel that closes while it is being unsubscribed does not make the timer spin") {
    World world{orders()};
    world.start();
    world.run_for(100ms);
    world.consumer().go_away(first_queue);
    world.publish("orders", succeeds());
    REQUIRE(world.run_until([&] { return !world.status().queues[0].stalls.empty(); }, 1s));
    world.broker().close_source({first_queue, model::Side::lane}, 406, "PRECONDITION_FAILED");
    world.run_for(10s);
    CHECK(world.timer_calls() < 200);
    world.consumer().come_back(first_queue);
    REQUIRE(world.run_until_settled(1min));
    CHECK(world.complaints() == Complaints{});
}

TEST_CASE("a copy that is returned while nothing can be declared leaves its queue open to the next ones") {
    const std::uint64_t seed = GENERATE(range(1U, 21U));
    World world(orders([](auto& queue) {
                    queue.retry.spread = 1;
                    queue.retry.jitter = {0};
                }),
                seed);
    world.publish("orders", fails_then_succeeds(1));  // makes the tier
    world.start();
    REQUIRE(world.run_until_settled(1min));
    world.publish("orders", fails_then_succeeds(2));
    REQUIRE(world.run_until([&] { return world.status().queues[0].being_copied == 1; }, 1s));
    world.broker().next_copy(ModelBroker::Mischief::give_back_as_unroutable);
    world.broker().cut(ports::Link::consume);  // who comes first differs from seed to seed
    REQUIRE(world.run_until_settled(5min));
    CHECK(world.audit().succeeded() == 2);
    CHECK(world.complaints() == Complaints{});
}

TEST_CASE("while the memory is full and answers stay unread, the same is not asked again and again") {
    auto policy = std::make_shared<model::Policy>(*orders());
    policy->memory = {16 * 1024};
    World world(policy);
    for (int i = 0; i < 60; ++i) world.publish("orders", always_fails());
    world.broker().block_publishing(true);
    world.start();
    REQUIRE(world.run_until([&] { return world.status().memory_used > 16 * 1024; }, 1min));
    const auto asked = world.broker().questions();
    world.run_for(2h);
    CHECK(world.broker().questions() - asked < 20);
}

TEST_CASE("with the memory full, what fails still leaves the hand, and all of it gets done") {
    const std::uint64_t seed = GENERATE(range(1U, 11U));
    auto policy = std::make_shared<model::Policy>(*orders());
    policy->memory = {16 * 1024};
    World world(policy, seed);
    Extra large;
    large.body_size = 1024;
    for (int i = 0; i < 60; ++i) world.publish("orders", fails_then_succeeds(1), large);
    world.start();
    REQUIRE(world.run_until_settled(1min));
    CHECK(world.audit().succeeded() == 60);
    CHECK(world.complaints() == Complaints{});
}
