#pragma once
// How fast the return lane may be: what it normally does, and how much of that it is allowed now.

#include "model/time.hpp"

#include <cstdint>
#include <deque>
#include <optional>

namespace retryd::core {

// Learns the normal rate from looks at a counter, 15 s or so apart: the median of the last hour.
class LaneRates {
public:
    // `calls`: from the lane, since the start. `free`: the lane had all that it wanted since the last look.
    void looked(std::uint64_t calls, bool free, model::SteadyTime now);
    [[nodiscard]] double normal() const { return normal_; }  // calls a second; 0: none, or not known yet

private:
    std::optional<model::SteadyTime> last_;
    std::uint64_t last_calls_ = 0;
    std::deque<double> rates_;
    double normal_ = 0;
};

// Calls a second that the lane may have, where a storm or an operator leaves it a share of its normal rate: at least one.
// Nothing where both leave it all.
[[nodiscard]] std::optional<double> lane_rate(double normal, double storm_share, double operator_share);

}  // namespace retryd::core
