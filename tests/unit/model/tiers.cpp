#include "model/tiers.hpp"

#include <catch2/catch.hpp>

#include <algorithm>

using namespace retryd::model;
using namespace std::chrono_literals;

namespace {

RetryPolicy jittered(double jitter, std::uint32_t spread) {
    RetryPolicy retry;
    retry.jitter = Ratio{jitter};
    retry.spread = spread;
    return retry;
}

RetryPolicy full_jitter(std::uint32_t spread) {
    RetryPolicy retry = jittered(0.2, spread);
    retry.full_jitter = true;
    return retry;
}

QueuePolicy orders() {
    QueuePolicy policy;
    policy.name = {"orders"};
    policy.lane = {"retryd.orders.lane"};
    policy.parked = {"retryd.orders.parked"};
    policy.dlq = {"retryd.orders.dlq"};
    policy.tier_prefix = "retryd.orders.";
    policy.to = {policy.parked, policy.parked, policy.parked, policy.parked, policy.parked, policy.dlq};
    return policy;
}

}  // namespace

TEST_CASE("a rung's queues lie evenly in its band") {
    struct Row {
        Milliseconds delay;
        RetryPolicy retry;
        std::vector<Milliseconds> expected;
    };
    const Row rows[] = {
        {1s, jittered(0.2, 1), {1s}},
        {1s, jittered(0.2, 2), {800ms, 1200ms}},
        {1s, jittered(0.2, 4), {800ms, 933ms, 1067ms, 1200ms}},
        {1s, jittered(0, 4), {1s}},
        {60ms, jittered(0.5, 3), {50ms, 60ms, 90ms}},                                // not under 50 ms
        {50ms, jittered(0.01, 16), {50ms, 51ms}},                                    // equal ones share a queue
        {longest_delay, jittered(0.2, 3), {longest_delay * 8 / 10, longest_delay}},  // not over 7 d
        {1s, full_jitter(4), {250ms, 500ms, 750ms, 1s}},
        {1s, full_jitter(1), {1s}},
        {100ms, full_jitter(4), {50ms, 75ms, 100ms}},
        {1s, jittered(0.2, 0), {1s}},
    };
    for (const Row& row : rows) {
        INFO(row.delay.count() << " ms, " << row.retry.spread << " queues");
        CHECK(spread_of(row.delay, row.retry) == row.expected);
    }
}

TEST_CASE("a rung's delays rise and stay in the band whatever the policy says") {
    for (std::uint32_t spread = 1; spread <= 16; ++spread) {
        for (const double jitter : {0.0, 0.05, 0.2, 0.9}) {
            for (const Milliseconds delay : {Milliseconds(50), Milliseconds(977), Milliseconds(1h), longest_delay}) {
                const auto delays = spread_of(delay, jittered(jitter, spread));
                REQUIRE_FALSE(delays.empty());
                REQUIRE(std::is_sorted(delays.begin(), delays.end()));
                REQUIRE(std::adjacent_find(delays.begin(), delays.end()) == delays.end());
                const auto band = static_cast<double>(delay.count());
                CHECK(static_cast<double>(delays.front().count()) >= std::max(50.0, band * (1 - jitter) - 0.5));
                CHECK(static_cast<double>(delays.back().count()) <= band * (1 + jitter) + 0.5);
                CHECK(delays.back() <= longest_delay);
            }
        }
    }
}

TEST_CASE("a tier is named by what it does, so that another delay or type is another queue") {
    QueuePolicy policy = orders();
    CHECK(tier_name(policy, TierKind::delay, 800ms).value == "retryd.orders.delay.800ms");
    CHECK(tier_name(policy, TierKind::hold, 1min).value == "retryd.orders.hold.60000ms");
    policy.retry.queue_type = QueueType::classic;
    CHECK(tier_name(policy, TierKind::delay, 800ms).value == "retryd.orders.delay.800ms.classic");
}

TEST_CASE("a tier sends what expires to the lane, a plain queue sends nothing anywhere") {
    const QueueSpec tier = tier_queue(orders(), TierKind::hold, 15s);
    CHECK(tier == QueueSpec{{"retryd.orders.hold.15000ms"}, QueueType::quorum, Milliseconds(15s), {"retryd.orders.lane"}});
    CHECK(plain_queue({"retryd.orders.dlq"}, QueueType::classic) ==
          QueueSpec{{"retryd.orders.dlq"}, QueueType::classic, std::nullopt, {}});
}

TEST_CASE("the queues that a policy may make are counted once each") {
    QueuePolicy policy = orders();
    policy.retry = jittered(0.2, 4);
    policy.retry.delays = {1s, 2s};
    policy.hold.delays = {15s, 1min};
    CHECK(queues_made(policy) == 3 + 8 + 2);

    policy.retry.max = 1;  // the second rung is never reached
    CHECK(queues_made(policy) == 3 + 4 + 2);
    policy.retry.max = 9;  // the last delay repeats
    CHECK(queues_made(policy) == 3 + 8 + 2);

    policy.classify.push_back({});
    policy.classify.back().delay = 10s;  // instead of the rung
    CHECK(queues_made(policy) == 3 + 12 + 2);
    policy.to.expired = {"elsewhere"};
    CHECK(queues_made(policy) == 4 + 12 + 2);
}
