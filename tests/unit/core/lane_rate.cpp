#include "core/lane_rate.hpp"

#include <catch2/catch.hpp>

using namespace retryd;
using namespace std::chrono_literals;
using core::LaneRates;

TEST_CASE("the normal rate is the median of what it was while it was free") {
    LaneRates rates;
    model::SteadyTime now{1h};
    std::uint64_t calls = 0;
    const auto look = [&](std::uint64_t per_second, bool free = true) {
        rates.looked(calls += 15 * per_second, free, now += 15s);
    };
    look(1000);
    CHECK(rates.normal() == 0);
    for (int i = 0; i < 5; ++i) look(10);
    for (int i = 0; i < 4; ++i) look(500);
    for (int i = 0; i < 100; ++i) look(1, false);
    CHECK(rates.normal() == Approx(10));
    for (int i = 0; i < 240; ++i) look(20);
    CHECK(rates.normal() == Approx(20));
}

TEST_CASE("the smaller share counts, and one a second is always left") {
    CHECK_FALSE(core::lane_rate(100, 1, 1));
    CHECK(core::lane_rate(100, 0.2, 1) == 20);
    CHECK(core::lane_rate(100, 0.2, 0.1) == 10);
    CHECK(core::lane_rate(100, 1, 0.5) == 50);
    CHECK(core::lane_rate(2, 0.2, 1) == 1);
    CHECK(core::lane_rate(0, 0.2, 1) == 1);
}
