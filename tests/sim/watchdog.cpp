// What the broker or a link no longer does without saying so: it is named, and it heals by itself.

#include "sim/policies.hpp"
#include "sim/world.hpp"

#include <catch2/catch.hpp>

#include <algorithm>

using namespace retryd;
using namespace retryd::sim;
using model::Cause;

namespace {

using Complaints = std::vector<std::string>;
constexpr model::Source work{{0}, model::Side::work};

bool names(const World& world, Cause cause) {
    const auto stalls = world.status().queues[0].stalls;
    return std::any_of(stalls.begin(), stalls.end(), [&](const auto& stall) { return stall.cause == cause; });
}

std::string stalls(const World& world) {
    std::string text;
    const auto status = world.status();
    for (const auto& stall : status.queues[0].stalls) text += std::string(to_text(stall.cause)) + " " + stall.detail + "; ";
    return text;
}

bool flows(const World& world) {
    return world.status().queues[0].stalls.empty();
}

void check_named_then_settled(World& world, Cause cause, model::Microseconds named_within, model::Microseconds healed_within) {
    REQUIRE(world.run_until([&] { return names(world, cause); }, named_within));
    REQUIRE(world.run_until_settled(healed_within));
    world.run_for(1s);
    CHECK(stalls(world) == "");
    CHECK(world.complaints() == Complaints{});
}

}  // namespace

TEST_CASE("a consumer that the broker has forgotten is noticed and comes back") {
    World world{orders()};
    world.start();
    world.run_for(1min);
    world.broker().forget_consumer(work);
    for (int i = 0; i < 10; ++i) world.publish("orders", succeeds());
    check_named_then_settled(world, Cause::subscription_lost, 20s, 10s);
    CHECK(world.audit().succeeded() == 10);
}

TEST_CASE("messages that wait and are not delivered are noticed, without a rush of new subscriptions") {
    World world{orders()};
    world.start();
    world.run_for(1min);
    world.broker().serve_nobody({"orders"}, true);
    for (int i = 0; i < 10; ++i) world.publish("orders", succeeds());
    REQUIRE(world.run_until([&] { return names(world, Cause::subscription_lost); }, 40s));
    world.run_for(10min);
    CHECK(names(world, Cause::subscription_lost));
    CHECK(std::count_if(world.log().begin(), world.log().end(),
                        [](const std::string& line) { return line.find("subscription_renewed") != std::string::npos; }) < 70);
    world.broker().serve_nobody({"orders"}, false);
    check_named_then_settled(world, Cause::subscription_lost, 1us, 10s);
}

TEST_CASE("an idle queue, a slow consumer and a full hand raise no suspicion") {
    World world{orders([](auto& queue) {
        queue.prefetch = 4;
        queue.deliver.concurrency = 1;
    })};
    auto slow = answer(200);
    slow.after = 10s;
    for (int i = 0; i < 20; ++i) world.publish("orders", always(slow));
    world.start();
    REQUIRE(world.run_until([&] { return flows(world); }, 1s));
    for (int second = 0; second < 600; ++second) {
        world.run_for(1s);
        REQUIRE(flows(world));
    }
    CHECK(world.audit().succeeded() == 20);
}

TEST_CASE("questions that the broker never answers cost the link, not the day") {
    World world{orders()};
    world.start();
    world.run_for(1min);
    world.broker().leave_unanswered(true);
    REQUIRE(world.run_until([&] { return names(world, Cause::link_stuck); }, 30s));
    world.run_for(1min);
    world.broker().leave_unanswered(false);
    world.publish("orders", succeeds());
    REQUIRE(world.run_until_settled(1min));
    CHECK(world.run_until([&] { return flows(world); }, 1min));
    CHECK(world.complaints() == Complaints{});
}

TEST_CASE("a link whose thread is stuck is ended and another one made") {
    const auto link = GENERATE(ports::Link::consume, ports::Link::publish);
    World world{orders()};
    world.start();
    world.run_for(10s);
    world.broker().freeze(link, true);
    for (int i = 0; i < 10; ++i) world.publish("orders", fails_then_succeeds(1));
    check_named_then_settled(world, Cause::link_stuck, 7s, 1min);
    CHECK(world.audit().succeeded() == 10);
}

TEST_CASE("a confirm that does not come is named before the link is renewed for it") {
    World world{orders()};
    world.start();
    world.run_for(1s);
    world.broker().next_copy(ModelBroker::Mischief::swallow_confirm);
    world.publish("orders", fails_then_succeeds(1));
    world.run_for(9s);
    CHECK(flows(world));
    check_named_then_settled(world, Cause::confirm_late, 2s, 1min);
}

TEST_CASE("a queue that confirms nothing holds up its own copies, not the others") {
    auto policy = orders([](auto& queue) { queue.retry.spread = 1; });
    World world{policy};
    world.start();
    const auto& queue = world.policy().queues[0];
    const auto silent = model::tier_queue(queue, model::TierKind::delay, 100ms).name;
    world.publish("orders", fails_then_succeeds(1));
    REQUIRE(world.run_until_settled(10s));
    world.broker().take_leader_of(silent, true);
    for (int i = 0; i < 20; ++i) world.publish("orders", fails_then_succeeds(1));
    for (int i = 0; i < 20; ++i) world.publish("orders", always(answer(422)));
    CHECK(world.run_until([&] { return world.broker().ready(queue.dlq) == 20; }, 2min));
    world.run_for(30min);
    CHECK(names(world, Cause::unroutable));
    world.broker().take_leader_of(silent, false);
    check_named_then_settled(world, Cause::unroutable, 1us, 6min);
    CHECK(world.audit().succeeded() == 21);
}

TEST_CASE("a delay queue that keeps its messages is named, and until it lets them go") {
    World world{orders([](auto& queue) {
        queue.retry.spread = 1;
        queue.retry.jitter = {0};
    })};
    auto tier = model::tier_queue(world.policy().queues[0], model::TierKind::delay, 100ms);
    tier.ttl.reset();  // as somebody else declared it
    world.broker().declare(tier);
    world.publish("orders", fails_then_succeeds(1));
    world.start();
    REQUIRE(world.run_until([&] { return names(world, Cause::broker_dead_letter_wait); }, 2min));
    world.broker().remove(tier.name);
    CHECK(world.run_until([&] { return flows(world); }, 30s));
}

TEST_CASE("nothing is taken until there is a lane for what fails") {
    World world{orders()};
    const auto lane = world.policy().queues[0].lane;
    world.broker().refuse_to_create(lane, true);
    for (int i = 0; i < 10; ++i) world.publish("orders", fails_then_succeeds(1));
    world.start();
    REQUIRE(world.run_until([&] { return names(world, Cause::queue_missing); }, 5s));
    world.run_for(1min);
    CHECK(world.broker().ready({"orders"}) == 10);
    world.broker().refuse_to_create(lane, false);
    check_named_then_settled(world, Cause::queue_missing, 1us, 20s);
    CHECK(world.audit().succeeded() == 10);
}

TEST_CASE("a lane that was away before the start is known from the lots") {
    World world{orders()};
    world.start();
    world.run_for(1s);
    CHECK(flows(world));  // its first start is no trouble
    world.broker().remove(lane);
    world.crash();
    world.run_for(1s);
    CHECK(names(world, Cause::broker_dead_letter_wait));
    world.run_for(3min);
    CHECK(flows(world));
}

TEST_CASE("a lot of the user's own that is there before the first start is no sign of an earlier one") {
    World world{orders([](auto& queue) { queue.to.permanent = {"of.my.own"}; })};
    world.broker().declare(model::plain_queue({"of.my.own"}, model::QueueType::quorum));
    world.start();
    world.run_for(10s);
    CHECK(flows(world));
    CHECK(stalls(world) == "");
}
