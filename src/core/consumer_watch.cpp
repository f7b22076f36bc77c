#include "core/consumer_watch.hpp"

#include "core/ladder.hpp"

namespace retryd::core {

namespace {

constexpr model::Milliseconds first_probe{100};
constexpr model::Milliseconds slowest_probe{5000};

}  // namespace

void ConsumerWatch::answered(bool success, model::SteadyTime now) {
    failures_ = 0;
    if (state_ == State::trying || state_ == State::misconfigured) enter(State::present, now);
    if (success) proven_ = true;
}

void ConsumerWatch::endpoint(model::SteadyTime now, std::uint64_t random) {
    if (state_ != State::misconfigured) back_off(State::misconfigured, now, random);
}

void ConsumerWatch::unavailable(model::SteadyTime now, std::uint64_t random) {
    if (state_ != State::away) back_off(State::away, now, random);
}

void ConsumerWatch::probe_succeeded(model::SteadyTime now) {
    probing_ = false;
    if (state_ == State::away) enter(State::present, now);
}

void ConsumerWatch::probe_failed(model::SteadyTime now, std::uint64_t random) {
    probing_ = false;
    if (state_ == State::away) back_off(State::away, now, random);
}

bool ConsumerWatch::timer_due(model::SteadyTime now) {
    if (now < next()) return false;
    if (state_ == State::misconfigured) {
        enter(State::trying, now);
        return false;
    }
    probing_ = true;
    return true;
}

model::SteadyTime ConsumerWatch::next() const {
    const bool waiting = state_ == State::misconfigured || (state_ == State::away && !probing_);
    return waiting ? next_ : model::SteadyTime::max();
}

std::uint32_t ConsumerWatch::permits(std::uint32_t concurrency) const {
    switch (state_) {
        case State::present: return concurrency;
        case State::trying: return 1;
        case State::away:
        case State::misconfigured: return 0;
    }
    return 0;
}

void ConsumerWatch::enter(State state, model::SteadyTime now) {
    // Trying is a moment of being misconfigured: the trouble goes on since it began.
    if (!(state_ == State::misconfigured && state == State::trying) &&
        !(state_ == State::trying && state == State::misconfigured))
        if (state != state_) since_ = now;
    state_ = state;
}

void ConsumerWatch::back_off(State state, model::SteadyTime now, std::uint64_t random) {
    if (state != State::misconfigured) proven_ = false;
    next_ = now + half_jitter(grown(first_probe, slowest_probe, failures_), random);
    ++failures_;
    enter(state, now);
}

}  // namespace retryd::core
