#include "core/intake.hpp"

#include "core/ladder.hpp"

namespace retryd::core {

namespace {

constexpr model::Milliseconds first_wait{500};
constexpr model::Milliseconds longest_wait{5000};

}  // namespace

std::optional<Intake::Step> Intake::begin(Step step) {
    state_ = State::under_way;
    step_ = step;
    return step;
}

std::optional<Intake::Step> Intake::next_step(std::uint32_t wanted, model::SteadyTime now) {
    if (now < not_before_) return std::nullopt;
    switch (state_) {
        case State::under_way: return std::nullopt;
        case State::unknown: return begin(Step::look_up);
        case State::absent: return begin(Step::declare);
        case State::found:
            if (wanted == 0) {
                lost_ = doubted_ = false;  // what nobody wants is not missed
                return std::nullopt;
            }
            prefetch_ = wanted;
            return begin(Step::subscribe);
        case State::subscribed:
            if (wanted == prefetch_ && !doubted_) return std::nullopt;
            return begin(Step::unsubscribe);
    }
    return std::nullopt;
}

model::SteadyTime Intake::next() const {
    const bool waiting = state_ != State::under_way && not_before_ != model::SteadyTime::min();
    return waiting ? not_before_ : model::SteadyTime::max();
}

bool Intake::is_there() const {
    return state_ == State::found || state_ == State::subscribed || awaits_broker();
}

void Intake::looked_up(bool found, model::SteadyTime now, std::uint64_t random) {
    known_ = true;
    if (!is_awaiting(Step::look_up)) return;
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
    if (!is_awaiting(Step::declare)) return;
    state_ = ok ? State::found : State::unknown;
    if (ok) {
        missing_ = false;
        not_before_ = model::SteadyTime::min();
    } else {
        wait(now, random);
    }
}

void Intake::subscribed(model::SteadyTime now) {
    // Whatever else is under way: one that crossed the closing of its channel is there on the next channel.
    state_ = State::subscribed;
    subscribed_since_ = now;
    lost_ = false;
    doubted_ = false;
    failures_ = 0;
    not_before_ = model::SteadyTime::min();
}

void Intake::unsubscribed() {
    if (!is_awaiting(Step::unsubscribe)) return;
    state_ = doubted_ ? State::unknown : State::found;
}

void Intake::doubted(model::SteadyTime now) {
    if (state_ != State::subscribed) return;
    if (!lost_) since_ = now;
    lost_ = true;
    doubted_ = true;
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
    doubted_ = false;
    failures_ = 0;
    not_before_ = model::SteadyTime::min();
}

void Intake::wait(model::SteadyTime now, std::uint64_t random) {
    not_before_ = now + half_jitter(grown(first_wait, longest_wait, failures_), random);
    ++failures_;
}

}  // namespace retryd::core
