#include "core/ladder.hpp"

#include "model/tiers.hpp"

#include <catch2/catch.hpp>

#include <map>
#include <random>

using namespace retryd;
using namespace std::chrono_literals;
using model::Milliseconds;

TEST_CASE("each retry has its rung, beyond the last one the last delay repeats") {
    model::RetryPolicy retry;
    retry.delays = {100ms, 200ms, 400ms};
    CHECK(core::rung_delay(retry, 0) == 100ms);
    CHECK(core::rung_delay(retry, 2) == 400ms);
    CHECK(core::rung_delay(retry, 3) == 400ms);
    CHECK(core::rung_delay(retry, 4000000000U) == 400ms);
}

TEST_CASE("the queues of a rung are used about evenly, and only those") {
    model::RetryPolicy retry;
    retry.spread = 4;
    std::mt19937_64 random(1);
    std::map<Milliseconds, int> used;
    for (int i = 0; i < 40000; ++i) ++used[core::pick_tier(retry, 1000ms, random())];
    REQUIRE(used.size() == 4);
    CHECK(used.begin()->first == 800ms);
    CHECK(used.rbegin()->first == 1200ms);
    for (const auto& [delay, times] : used) CHECK(std::abs(times - 10000) < 500);
    CHECK(core::pick_tier(retry, 1000ms, ~0ULL) == 1200ms);
    CHECK(core::pick_tier(retry, 1000ms, 0) == 800ms);
}

TEST_CASE("a Retry-After is only ever later, over R to R (1 + 2j), and cut before it is spread") {
    model::QueuePolicy policy;
    std::mt19937_64 random(2);
    Milliseconds least = 1h, most = 0ms;
    for (int i = 0; i < 10000; ++i) {
        const auto wait = core::spread_retry_after(policy, 10s, random());
        least = std::min(least, wait);
        most = std::max(most, wait);
    }
    CHECK(least >= 10s);
    CHECK(least < 10100ms);
    CHECK(most <= 14s);
    CHECK(most > 13900ms);
    CHECK(core::spread_retry_after(policy, std::chrono::hours{24 * 365 * 300}, ~0ULL) <= Milliseconds{6h} * 14 / 10);
    CHECK(core::spread_retry_after(policy, Milliseconds::max(), ~0ULL) <= Milliseconds{6h} * 14 / 10);
}

TEST_CASE("any Retry-After up to the greatest takes at most five hops and never ends early") {
    const model::QueuePolicy policy;
    std::mt19937_64 random(3);
    for (int i = 0; i < 20000; ++i) {
        const Milliseconds whole{std::uniform_int_distribution<std::int64_t>{1, 30240000}(random)};
        auto left = whole;
        int hops = 0;
        while (left >= 1000ms || hops == 0) {
            left -= core::hold_hop(policy.hold, left, whole);
            ++hops;
        }
        CAPTURE(whole.count(), left.count());
        REQUIRE(hops <= 5);
        REQUIRE((left < 1000ms));
        REQUIRE(-left <= std::max<Milliseconds>(whole / 5, 15s));
    }
}

TEST_CASE("a wait without a known end climbs one rung a hold") {
    const model::HoldPolicy hold;
    Milliseconds held{0};
    std::vector<Milliseconds> climbed;
    for (int i = 0; i < 7; ++i) {
        climbed.push_back(core::hold_climb(hold, held));
        held += climbed.back();
    }
    CHECK(climbed == std::vector<Milliseconds>{15s, 1min, 5min, 30min, 2h, 2h, 2h});
}

TEST_CASE("growth doubles up to its cap and does not overflow") {
    CHECK(core::grown(100ms, 5s, 0) == 100ms);
    CHECK(core::grown(100ms, 5s, 3) == 800ms);
    CHECK(core::grown(100ms, 5s, 6) == 5s);
    CHECK(core::grown(100ms, 5s, 4000000000U) == 5s);
}

TEST_CASE("jitter stays within its bounds") {
    for (const auto random : {std::uint64_t{0}, std::uint64_t{1} << 63U, ~std::uint64_t{0}}) {
        CHECK(core::full_jitter(1000ms, random) > 0ms);
        CHECK(core::full_jitter(1000ms, random) <= 1000ms);
        CHECK(core::half_jitter(1000ms, random) > 500ms);
        CHECK(core::half_jitter(1000ms, random) <= 1000ms);
    }
}
