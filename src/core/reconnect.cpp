#include "core/reconnect.hpp"

#include "core/ladder.hpp"

namespace retryd::core {

namespace {

using model::Milliseconds;
constexpr Milliseconds first_wait{100};
constexpr Milliseconds longest_wait{5000};
constexpr Milliseconds first_wait_refused{5000};
constexpr Milliseconds longest_wait_refused{30000};
constexpr Milliseconds health{10000};

}  // namespace

void Reconnect::up(model::SteadyTime now) {
    state_ = State::up;
    since_ = now;
}

void Reconnect::down(bool refused, model::SteadyTime now, std::uint64_t random) {
    const bool was_up = state_ == State::up;
    if (was_up && now - since_ >= health) failures_ = 0;
    if (was_up) since_ = now;
    const auto first = refused ? first_wait_refused : first_wait;
    const auto cap = refused ? longest_wait_refused : longest_wait;
    const auto ceiling = grown(first, cap, failures_);
    next_ = now + (refused ? half_jitter(ceiling, random) : full_jitter(ceiling, random));
    ++failures_;
    if (!was_up) address_ = (address_ + 1) % addresses_;
    state_ = State::waiting;
}

bool Reconnect::timer_due(model::SteadyTime now) {
    if (state_ != State::waiting || now < next_) return false;
    state_ = State::connecting;
    return true;
}

model::SteadyTime Reconnect::next() const {
    return state_ == State::waiting ? next_ : model::SteadyTime::max();
}

}  // namespace retryd::core
