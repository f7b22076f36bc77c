#include "core/recovery.hpp"

#include <algorithm>
#include <chrono>
#include <limits>

namespace retryd::core {

namespace {

constexpr std::chrono::minutes grows_in_vain{1};

}  // namespace

Recovery::Recovery(const model::RecoverPolicy& policy, model::SteadyTime /*now*/) : policy_(policy), successes_(policy.of) {}

void Recovery::succeeded(model::SteadyTime now) {
    successes_.add(0, now);
}

void Recovery::opened(model::SteadyTime now) {
    if (before_) return;  // it opens again before the backlog of the last time is gone
    const auto usual = successes_.usual_rate(0, now);
    if (usual > 0) before_ = usual;
}

void Recovery::closed(model::SteadyTime now) {
    if (!before_) return;
    const auto rate = *before_ * policy_.to.value;
    limit_.emplace(rate, std::max(rate, 1.0), now);
    limit_->empty(now);
    fewest_ = std::numeric_limits<std::uint64_t>::max();
}

void Recovery::went(model::SteadyTime now) {
    if (limit_) limit_->take(now);
}

void Recovery::looked(bool waits, model::SteadyTime now) {
    if (limit_ && !waits && limit_->is_full(now)) end();
}

void Recovery::waiting(std::uint64_t messages, model::SteadyTime now) {
    if (!limit_) return;
    const bool in_vain = messages >= fewest_;
    if (in_vain && now - fewest_since_ < grows_in_vain) return;
    if (in_vain) {
        const auto rate = limit_->per_second() * policy_.to.value;
        limit_->set_rate(rate, std::max(rate, 1.0), now);
    }
    fewest_ = messages;
    fewest_since_ = now;
}

model::SteadyTime Recovery::next(model::SteadyTime now) const {
    return limit_ && !limit_->has(now) ? limit_->next(now) : model::SteadyTime::max();
}

}  // namespace retryd::core
