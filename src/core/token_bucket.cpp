#include "core/token_bucket.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

namespace retryd::core {

namespace {

constexpr double hair = 1e-9;  // what is lost in adding up does not keep a token back

}  // namespace

double TokenBucket::level(model::SteadyTime now) const {
    const auto passed = std::max(std::chrono::duration<double>(now - at_).count(), 0.0);
    return std::min(level_ + passed * per_second_ + hair, burst_);
}

void TokenBucket::take(model::SteadyTime now) {
    level_ = level(now) - 1;
    at_ = std::max(at_, now);
}

void TokenBucket::empty(model::SteadyTime now) {
    level_ = 0;
    at_ = now;
}

void TokenBucket::set_rate(double per_second, double burst, model::SteadyTime now) {
    level_ = std::min(level(now), burst);
    at_ = now;
    per_second_ = per_second;
    burst_ = burst;
}

model::SteadyTime TokenBucket::next(model::SteadyTime now) const {
    const auto missing = 1 - level(now);
    if (missing <= 0) return now;
    if (per_second_ <= 0) return model::SteadyTime::max();
    constexpr double longest = 1e9;  // seconds; far beyond any process, and well within the clock
    const auto wait = std::min(missing / per_second_, longest);
    return now + model::Microseconds{static_cast<model::Microseconds::rep>(std::ceil(wait * 1e6))};
}

}  // namespace retryd::core
