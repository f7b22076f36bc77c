#include "core/tier_watch.hpp"

#include <catch2/catch.hpp>

using retryd::core::TierWatch;
using namespace std::chrono_literals;
using retryd::model::SteadyTime;
using Look = TierWatch::Look;

namespace {

constexpr SteadyTime start{1h};

// Looks every fifteen seconds; when it was first said to be shut.
std::optional<SteadyTime> first_shut(TierWatch& watch, std::chrono::seconds span, const Look& look) {
    for (auto now = start; now <= start + span; now += 15s) {
        watch.looked(look, now);
        if (watch.shut_since()) return now;
    }
    return std::nullopt;
}

}  // namespace

TEST_CASE("a delay queue that keeps its messages beyond its time is shut, a minute later and no sooner") {
    TierWatch watch(30s);
    CHECK(first_shut(watch, 10min, {.messages = 3}) == start + 90s);
    CHECK(watch.shut_since() == start);
}

TEST_CASE("one that empties, shrinks, or whose messages may have come lets go") {
    TierWatch watch(1s);
    CHECK_FALSE(first_shut(watch, 10min, {.messages = 0}));
    for (std::uint64_t i = 0; i < 40; ++i) {
        watch.looked({.messages = 3, .lane_arrivals = i}, start + i * 15s);
        CHECK_FALSE(watch.shut_since());
    }
    for (std::uint64_t i = 0; i < 40; ++i) {
        watch.looked({.messages = 100 - i}, start + i * 15s);
        CHECK_FALSE(watch.shut_since());
    }
}

TEST_CASE("nothing is concluded while the lane is not consumed") {
    TierWatch watch(1s);
    CHECK_FALSE(first_shut(watch, 10min, {.messages = 3, .lane_flows = false}));
}

TEST_CASE("a shut queue that opens is open") {
    TierWatch watch(1s);
    REQUIRE(first_shut(watch, 10min, {.messages = 3}));
    watch.looked({.messages = 0}, start + 1h);
    CHECK_FALSE(watch.shut_since());
}
