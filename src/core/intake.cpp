#include "core/intake.hpp"

#include "core/ladder.hpp"

namespace retryd::core {

namespace {

constexpr model::Milliseconds first_wait{500};
constexpr model::Milliseconds longest_wait{5000};

}  // namespace

std::optional<Intake::Step> Intake::next_step(std::uint32_t wanted, model::SteadyTime now) {
    if (now < not_before_) return std::nullopt;
    switch (state_) {
        case State::under_way: return std::nullopt;
        case State::unknown: state_ = State::under_way; return Step::look_up;
        case State::absent: state_ = State::under_way; return Step::declare;
        case State::found:
            if (wanted == 0) return std::nullopt;
            prefetch_ = wanted;
            state_ = State::under_way;
            return Step::subscribe;
        case State::subscribed:
            if (wanted == prefetch_) return std::nullopt;
            state_ = State::under_way;
            return Step::unsubscribe;
    }
    return std::nullopt;
}

model::SteadyTime Intake::next() const {
    const bool waiting = state_ != State::under_way && not_before_ != model::SteadyTime::min();
    return waiting ? not_before_ : model::SteadyTime::max();
}

void Intake::looked_up(bool found, model::SteadyTime now, std::uint64_t random) {
    known_ = true;
    if (found) {
        missing_ = false;
        not_before_ = model::SteadyTime::min();
        state_ = State::found;
        return;
    }
    if (!missing_) since_ = now;
    missing_ = true;
    state_ = may_declare_ ? State::absent : State::unknown;
    if (!may_declare_) wait(now, random);
}

void Intake::declared(bool ok, model::SteadyTime now, std::uint64_t random) {
    state_ = ok ? State::found : State::unknown;
    if (ok) {
        missing_ = false;
        not_before_ = model::SteadyTime::min();
    } else {
        wait(now, random);
    }
}

void Intake::subscribed() {
    state_ = State::subscribed;
    lost_ = false;
    failures_ = 0;
    not_before_ = model::SteadyTime::min();
}

void Intake::unsubscribed() {
    // An answer may cross the broker's closing of the channel, and then says nothing about the queue.
    if (state_ == State::under_way) state_ = State::found;
}

void Intake::cancelled(model::SteadyTime now) {
    if (!lost_) since_ = now;
    lost_ = true;
    state_ = State::unknown;
}

void Intake::closed(model::SteadyTime now, std::uint64_t random) {
    cancelled(now);
    wait(now, random);
}

void Intake::link_down() {
    state_ = State::unknown;
    missing_ = false;
    lost_ = false;
    failures_ = 0;
    not_before_ = model::SteadyTime::min();
}

void Intake::wait(model::SteadyTime now, std::uint64_t random) {
    not_before_ = now + half_jitter(grown(first_wait, longest_wait, failures_), random);
    ++failures_;
}

}  // namespace retryd::core
