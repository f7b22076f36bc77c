#include "core/budget.hpp"

#include <algorithm>
#include <chrono>

namespace retryd::core {

namespace {

constexpr double hair = 1e-9;  // what is lost in adding up does not keep a token back

}  // namespace

Budget::Budget(const model::BudgetPolicy& policy, model::Milliseconds window, model::SteadyTime now)
    : policy_(policy), window_(window), tokens_(policy.burst), at_(now) {}

double Budget::tokens(model::SteadyTime now) const {
    auto earned = 0.0;
    if (success_) {
        const auto end = std::min<model::SteadyTime>(now, *success_ + window_);
        earned = std::max(std::chrono::duration<double>(end - at_).count(), 0.0) * policy_.floor.per_second();
    }
    return std::min<double>(tokens_ + earned + hair, policy_.burst);
}

void Budget::succeeded(model::SteadyTime now) {
    tokens_ = std::min<double>(tokens(now) + policy_.per_success, policy_.burst);
    at_ = now;
    success_ = now;
    if (wanting_ && tokens_ >= 1) wanting_.reset();
}

bool Budget::take(model::SteadyTime now) {
    const auto have = tokens(now);
    if (have < 1) {
        if (!wanting_) wanting_ = now;
        return false;
    }
    tokens_ = have - 1;
    at_ = now;
    wanting_.reset();
    return true;
}

}  // namespace retryd::core
