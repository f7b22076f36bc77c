#pragma once
// Who gets the next free slot at the consumer: what is fresh, or what comes back from the lane.
//
// While both wait, the lane has max(1, floor(concurrency · lane_share)) of the slots, with concurrency 1 every fourth
// turn; where only one side waits it may use them all.

#include "model/names.hpp"
#include "model/policy.hpp"

#include <cstdint>
#include <optional>

namespace retryd::core {

struct Demand {
    bool work_waits = false;
    bool lane_waits = false;
    std::uint32_t in_flight = 0;  // both sides
    std::uint32_t lane_in_flight = 0;
    std::uint32_t slots = 0;  // allowed at once
    std::uint64_t turn = 0;   // deliveries so far
};

// The side to serve next; nothing where no slot is free or nobody waits.
[[nodiscard]] std::optional<model::Side> next_side(const Demand& demand, model::Ratio lane_share);

}  // namespace retryd::core
