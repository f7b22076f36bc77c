#include "core/token_bucket.hpp"

#include <catch2/catch.hpp>

#include <random>

using namespace retryd;
using namespace std::chrono_literals;
using core::TokenBucket;
using model::SteadyTime;

namespace {

constexpr SteadyTime start{1h};

}  // namespace

TEST_CASE("a bucket begins full, and fills at its rate") {
    TokenBucket bucket{10, 3, start};
    for (int i = 0; i < 3; ++i) {
        REQUIRE(bucket.has(start));
        bucket.take(start);
    }
    CHECK_FALSE(bucket.has(start));
    CHECK(bucket.next(start) == start + 100ms);
    CHECK_FALSE(bucket.has(start + 99ms));
    CHECK(bucket.has(start + 100ms));
    CHECK(bucket.is_full(start + 300ms));
    CHECK(bucket.level(start + 1h) == 3);
}

TEST_CASE("where nothing comes there is never a next one") {
    TokenBucket bucket{0, 1, start};
    bucket.take(start);
    CHECK(bucket.next(start) == SteadyTime::max());
    bucket.set_rate(1, 1, start);
    CHECK(bucket.next(start) == start + 1s);
}

TEST_CASE("whoever takes what there is never gets more than burst and rate allow, nor much less") {
    for (std::uint64_t seed = 1; seed <= 100; ++seed) {
        std::mt19937_64 random(seed);
        const auto rate = static_cast<double>(1 + random() % 1000);
        const auto burst = static_cast<double>(1 + random() % 50);
        TokenBucket bucket{rate, burst, start};
        auto now = start;
        double taken = 0;
        while (now < start + 20s) {
            for (; bucket.has(now); ++taken) bucket.take(now);
            REQUIRE(bucket.next(now) > now);
            now = bucket.next(now);
        }
        const auto seconds = std::chrono::duration<double>(now - start).count();
        CHECK(taken <= burst + rate * seconds + 1);
        CHECK(taken >= burst + rate * seconds * 0.99 - 2);
    }
}
