#include "core/lane_rate.hpp"

#include <algorithm>
#include <chrono>
#include <vector>

namespace retryd::core {

namespace {

constexpr std::size_t rates_kept = 240;  // an hour of looks
constexpr double least = 1;              // a second

}  // namespace

void LaneRates::looked(std::uint64_t calls, bool free, model::SteadyTime now) {
    if (free && last_ && now > *last_) {
        rates_.push_back(static_cast<double>(calls - last_calls_) / std::chrono::duration<double>(now - *last_).count());
        if (rates_.size() > rates_kept) rates_.pop_front();
        std::vector<double> sorted(rates_.begin(), rates_.end());
        const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
        std::nth_element(sorted.begin(), middle, sorted.end());
        normal_ = *middle;
    }
    last_ = now;
    last_calls_ = calls;
}

std::optional<double> lane_rate(double normal, double storm_share, double operator_share) {
    const auto share = std::min(storm_share, operator_share);
    if (share >= 1) return std::nullopt;
    return std::max(normal * share, least);
}

}  // namespace retryd::core
