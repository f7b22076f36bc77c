#include "core/turns.hpp"

#include <algorithm>

namespace retryd::core {

using model::Side;

std::optional<Side> next_side(const Demand& demand, model::Ratio lane_share) {
    if (demand.in_flight >= demand.slots) return std::nullopt;
    if (!demand.lane_waits) return demand.work_waits ? std::optional{Side::work} : std::nullopt;
    if (!demand.work_waits) return Side::lane;
    if (demand.slots == 1) return demand.turn % 4 == 3 ? Side::lane : Side::work;
    const auto share = static_cast<std::uint32_t>(lane_share.value * demand.slots);
    return demand.lane_in_flight < std::max(share, 1U) ? Side::lane : Side::work;
}

}  // namespace retryd::core
