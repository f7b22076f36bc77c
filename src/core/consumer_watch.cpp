#include "core/consumer_watch.hpp"

#include "core/ladder.hpp"

#include <algorithm>

namespace retryd::core {

namespace {

constexpr model::Milliseconds first_probe{100};
constexpr model::Milliseconds slowest_probe{5000};
constexpr std::uint32_t most_allowed = 1U << 20U;  // beyond any concurrency

}  // namespace

void ConsumerWatch::answered(bool success, model::SteadyTime now) {
    failures_ = 0;
    if (state_ == State::trying || state_ == State::misconfigured) enter(State::present, now);
    if (!success) return;
    proven_ = true;
    if (++succeeded_ < allowed_) return;
    succeeded_ = 0;
    if (allowed_ < most_allowed) allowed_ *= 2;
}

void ConsumerWatch::endpoint(model::SteadyTime now, std::uint64_t random) {
    if (state_ != State::misconfigured) back_off(State::misconfigured, now, random);
}

void ConsumerWatch::unavailable(model::SteadyTime now, std::uint64_t random) {
    if (state_ != State::away) back_off(State::away, now, random);
}

void ConsumerWatch::probe_succeeded(model::SteadyTime now) {
    probing_ = false;
    if (state_ == State::misconfigured && gate_) return enter(State::trying, now);
    if (gate_) next_ = now + gate_->every;
    if (state_ == State::present) gate_row_ = 0;
    const bool was_out = state_ == State::away || state_ == State::not_ready;
    if (!was_out || (gate_ && ++gate_row_ < gate_->up_after)) return;
    const bool must_prove_itself = failures_ > 0 && !gate_ && !dials_in_;
    enter(must_prove_itself ? State::trying : State::present, now);
}

void ConsumerWatch::probe_refused(model::SteadyTime now) {
    probing_ = false;
    if (gate_) next_ = now + gate_->every;
    if (state_ == State::away || state_ == State::misconfigured) return enter(State::not_ready, now);
    if (state_ == State::not_ready) gate_row_ = 0;
    if (state_ == State::present && gate_ && ++gate_row_ >= gate_->down_after) enter(State::not_ready, now);
}

void ConsumerWatch::probe_failed(model::SteadyTime now, std::uint64_t random) {
    probing_ = false;
    if (state_ == State::present && gate_ && ++gate_row_ < gate_->down_after) {
        next_ = now + gate_->every;
        return;
    }
    if (probes()) back_off(State::away, now, random);
}

bool ConsumerWatch::timer_due(model::SteadyTime now) {
    if (full_at_ && now >= *full_at_) full_at_.reset();
    if (now < next_) return false;
    if (state_ == State::misconfigured && !gate_) {
        enter(State::trying, now);
        return false;
    }
    if (!probes() || probing_) return false;
    return probing_ = true;
}

// Whether probes are of use in this state.
bool ConsumerWatch::probes() const {
    const bool asked_by_the_gate = state_ == State::present || state_ == State::misconfigured;
    return state_ == State::away || state_ == State::not_ready || (asked_by_the_gate && gate_);
}

model::SteadyTime ConsumerWatch::next() const {
    auto when = model::SteadyTime::max();
    if ((state_ == State::misconfigured && !gate_) || (probes() && !probing_)) when = next_;
    return full_at_ ? std::min(when, *full_at_) : when;
}

std::uint32_t ConsumerWatch::permits(std::uint32_t concurrency, model::SteadyTime now) const {
    switch (state_) {
        case State::present: return full_at_ && now < *full_at_ ? std::min(allowed_, concurrency) : concurrency;
        case State::trying: return 1;
        case State::away:
        case State::not_ready:
        case State::misconfigured: return 0;
    }
    return 0;
}

void ConsumerWatch::enter(State state, model::SteadyTime now) {
    // A try is a moment of the trouble that it comes from, which goes on since it began where the try fails.
    const bool tried_in_vain = state_ == State::trying && state == tried_from_;
    if (state == State::trying) {
        tried_from_ = state_;
    } else if (state != state_ && !tried_in_vain) {
        since_ = now;
    }
    if (state == State::away || state == State::not_ready) proven_ = false;
    full_at_.reset();
    state_ = state;
    gate_row_ = 0;
    begin_slowly(now);
}

void ConsumerWatch::begin_slowly(model::SteadyTime now) {
    if (state_ != State::present || !slow_start_) return;
    allowed_ = 1;
    succeeded_ = 0;
    full_at_ = now + *slow_start_;
}

void ConsumerWatch::back_off(State state, model::SteadyTime now, std::uint64_t random) {
    next_ = now + half_jitter(grown(first_probe, slowest_probe, failures_), random);
    ++failures_;
    enter(state, now);
}

}  // namespace retryd::core
