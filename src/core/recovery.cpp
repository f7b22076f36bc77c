#include "core/recovery.hpp"

#include <algorithm>
#include <chrono>

namespace retryd::core {

namespace {

constexpr std::chrono::seconds known_after{60};

}  // namespace

Recovery::Recovery(const model::RecoverPolicy& policy, model::SteadyTime /*now*/) : policy_(policy), successes_(policy.of) {}

void Recovery::succeeded(model::SteadyTime now) {
    if (!first_) first_ = now;
    successes_.add(0, now);
}

void Recovery::opened(model::SteadyTime now) {
    if (before_) return;  // it opens again before the backlog of the last time is gone
    if (!first_ || now - *first_ < known_after) return;
    const auto from = std::max(*first_, successes_.counted_from(now));
    const auto span = std::chrono::duration<double>(now - from).count();
    const auto count = successes_.counts(now)[0];
    if (count > 0 && span > 0) before_ = count / span;
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
