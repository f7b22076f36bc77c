#include "core/tier_watch.hpp"

namespace retryd::core {

namespace {

// What expires may come late, and the looks are some seconds apart.
constexpr model::Milliseconds allowance{60'000};

}  // namespace

void TierWatch::looked(const Look& look, model::SteadyTime now) {
    const bool goes_on = last_ && look.lane_flows && look.messages > 0 && look.messages >= last_->messages &&
                         look.lane_arrivals == last_->lane_arrivals;
    if (!goes_on) since_ = now;
    last_ = look;
    shut_ = goes_on && now - since_ >= time_ + allowance;
}

std::optional<model::SteadyTime> TierWatch::shut_since() const {
    return shut_ ? std::optional(since_) : std::nullopt;
}

}  // namespace retryd::core
