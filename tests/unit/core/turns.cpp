#include "core/turns.hpp"

#include <catch2/catch.hpp>

using namespace retryd;
using core::Demand;
using model::Side;

namespace {

// Serves endless demand on both sides; how many of `slots` the lane ends up with.
std::uint32_t lane_slots(std::uint32_t slots, double share) {
    Demand demand{.work_waits = true, .lane_waits = true, .slots = slots};
    while (const auto side = core::next_side(demand, {share})) {
        ++demand.in_flight;
        if (*side == Side::lane) ++demand.lane_in_flight;
        ++demand.turn;
    }
    CHECK(demand.in_flight == slots);
    return demand.lane_in_flight;
}

}  // namespace

TEST_CASE("while both wait the lane has its share of the slots, at least one") {
    CHECK(lane_slots(16, 0.25) == 4);
    CHECK(lane_slots(10, 0.25) == 2);
    CHECK(lane_slots(3, 0.25) == 1);
    CHECK(lane_slots(2, 0.01) == 1);
}

TEST_CASE("where only one side waits it may use all") {
    Demand demand{.work_waits = false, .lane_waits = true, .in_flight = 15, .lane_in_flight = 15, .slots = 16};
    CHECK(core::next_side(demand, {0.25}) == Side::lane);
    demand = {.work_waits = true, .lane_waits = false, .in_flight = 15, .slots = 16};
    CHECK(core::next_side(demand, {0.25}) == Side::work);
}

TEST_CASE("with a single slot they take turns, one to three") {
    int lane = 0;
    Demand demand{.work_waits = true, .lane_waits = true, .slots = 1};
    for (demand.turn = 0; demand.turn < 40; ++demand.turn)
        if (core::next_side(demand, {0.25}) == Side::lane) ++lane;
    CHECK(lane == 10);
}

TEST_CASE("no slot, no turn") {
    CHECK_FALSE(core::next_side({.work_waits = true, .lane_waits = true, .in_flight = 4, .slots = 4}, {0.25}));
    CHECK_FALSE(core::next_side({.work_waits = true, .lane_waits = true, .slots = 0}, {0.25}));
    CHECK_FALSE(core::next_side({.slots = 4}, {0.25}));
}
