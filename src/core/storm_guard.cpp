#include "core/storm_guard.hpp"

#include <algorithm>

namespace retryd::core {

namespace {

constexpr double some_retries = 0.25;  // of retry_messages: from here on it is watched, and a spike ends
constexpr double ramp = 2;             // the lane's share grows by this at each look after a storm

double share(double part, double whole) {
    return whole > 0 ? part / whole : 0;
}

}  // namespace

void StormGuard::looked(const Look& look, model::SteadyTime now) {
    measure(look, now);
    if (state_ == State::storm) {
        if (!is_under_half()) half_since_.reset();
        if (is_under_half() && !half_since_) half_since_ = now;
        if (!half_since_ || now - *half_since_ < policy_.calm_for) return;
        enter(State::calm, now);
    } else if (share_ < 1) {
        share_ *= ramp;
    }
    const auto found = judged(look);
    if (found != state_) enter(found, now);
}

void StormGuard::measure(const Look& look, model::SteadyTime now) {
    const auto ladder = look.lane + look.delays;
    std::erase_if(depths_, [&](const Depths& one) { return now - one.at > policy_.within; });
    auto least = ladder;
    for (const auto& one : depths_) least = std::min(least, one.ladder);
    figures_.retries = ladder;
    figures_.growth = static_cast<double>(ladder) / static_cast<double>(std::max<std::uint64_t>(least, 1));
    figures_.failure_rate = share(look.failed, look.calls);
    figures_.retry_messages = share(static_cast<double>(ladder), static_cast<double>(ladder + look.work));
    depths_.push_back({now, ladder, look.work});
}

StormGuard::State StormGuard::judged(const Look& look) const {
    const auto deep = figures_.retries >= policy_.min_depth;
    const bool failing = figures_.failure_rate >= policy_.failure_rate.value / 2;
    const bool ladder_grows = figures_.growth >= policy_.growth;
    if (deep && failing && figures_.retry_messages >= policy_.retry_messages.value) return State::storm;
    if (deep && figures_.failure_rate >= policy_.failure_rate.value && ladder_grows) return State::storm;
    const bool many_retries = figures_.retry_messages >= policy_.retry_messages.value * some_retries;
    if (deep && failing && many_retries) return State::watch;
    auto least_work = look.work;
    for (const auto& one : depths_) least_work = std::min(least_work, one.work);
    const bool work_grows =
        static_cast<double>(look.work) >= policy_.growth * static_cast<double>(std::max<std::uint64_t>(least_work, 1));
    return look.work >= policy_.min_depth && work_grows && !many_retries ? State::spike : State::calm;
}

// How many of those that wait are retries says nothing while the lane is damped: it is we who keep them waiting.
bool StormGuard::is_under_half() const {
    const bool few = figures_.retries < policy_.min_depth / 2;
    const bool shrinks = figures_.growth < std::max(policy_.growth / 2, 1.05);
    return few || (figures_.failure_rate < policy_.failure_rate.value / 2 && shrinks);
}

void StormGuard::enter(State state, model::SteadyTime now) {
    if (state == State::storm) share_ = policy_.damp.value;
    half_since_.reset();
    state_ = state;
    since_ = now;
}

void StormGuard::paused() {
    depths_.clear();
    half_since_.reset();
}

}  // namespace retryd::core
