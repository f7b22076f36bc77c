#include "core/recovery.hpp"

#include <algorithm>

namespace retryd::core {

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
}

void Recovery::went(model::SteadyTime now) {
    if (limit_) limit_->take(now);
}

void Recovery::looked(bool waits, model::SteadyTime now) {
    if (limit_ && !waits && limit_->is_full(now)) end();
}

model::SteadyTime Recovery::next(model::SteadyTime now) const {
    return limit_ && !limit_->has(now) ? limit_->next(now) : model::SteadyTime::max();
}

}  // namespace retryd::core
