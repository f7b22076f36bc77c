#pragma once
// Whether a delay queue lets its messages go when their time is over. The broker says only how many it holds, so this is
// concluded from a span longer than that time: it was never empty and never held fewer, and nothing came by the lane.

#include "model/time.hpp"

#include <cstdint>
#include <optional>

namespace retryd::core {

class TierWatch {
public:
    explicit TierWatch(model::Milliseconds time) : time_(time) {}

    struct Look {
        std::uint64_t messages = 0;
        std::uint64_t lane_arrivals = 0;  // messages that have come from the lane, ever
        bool lane_flows = true;           // what comes into the lane comes to us: subscribed, and nothing waits there
    };
    void looked(const Look& look, model::SteadyTime now);
    [[nodiscard]] std::optional<model::SteadyTime> shut_since() const;  // nothing: as far as can be seen it lets go

private:
    model::Milliseconds time_;
    std::optional<Look> last_;
    model::SteadyTime since_{};  // of the span
    bool shut_ = false;
};

}  // namespace retryd::core
