#include "core/breaker.hpp"

#include "core/ladder.hpp"

#include <algorithm>
#include <cmath>

namespace retryd::core {

namespace {

enum Kind : std::uint8_t { calls, failed, slow };

bool reaches(std::uint32_t part, std::uint32_t whole, model::Ratio rate) {
    return static_cast<double>(part) >= rate.value * static_cast<double>(whole);
}

constexpr double hardly_ever = 1e-9;  // at 300 calls a second once in a month and more

// Failures as usual as before the row make one so long hardly ever.
bool is_no_chance(const Breaker::Counts& counts) {
    const auto in_window = std::min({counts.row_calls, counts.calls, counts.failed});
    const double others = counts.calls - in_window;
    const double usual = others > 0 ? (counts.failed - in_window) / others : 0;
    return std::pow(usual, counts.in_row) < hardly_ever;
}

}  // namespace

Breaker::Breaker(const model::BreakerPolicy& policy, model::SteadyTime now)
    : policy_(policy), since_(now), tally_(policy.window) {
    leases_.reserve(policy.half_open);
}

bool Breaker::trips(const model::BreakerPolicy& policy, const Counts& counts) {
    if (policy.all_fail && counts.in_row >= *policy.all_fail && is_no_chance(counts)) return true;
    if (counts.calls < policy.min_calls) return false;
    if (reaches(counts.failed, counts.calls, policy.failure_rate)) return true;
    return policy.slow_call && reaches(counts.slow, counts.calls, policy.slow_rate);
}

std::uint32_t Breaker::probes_due() const {
    const auto begun = judged_.calls + probes_in_flight();
    return state_ == State::half_open && begun < policy_.half_open ? policy_.half_open - begun : 0;
}

void Breaker::begin_probe(model::DeliveryKey key, model::SteadyTime deadline) {
    leases_.push_back({key, deadline});
}

bool Breaker::is_probe(model::DeliveryKey key) const {
    return std::any_of(leases_.begin(), leases_.end(), [key](const Lease& lease) { return lease.key == key; });
}

void Breaker::extended(model::DeliveryKey key, model::SteadyTime deadline) {
    for (auto& lease : leases_)
        if (lease.key == key) lease.deadline = deadline;
}

void Breaker::ended(model::DeliveryKey key, Said said, model::Microseconds took, model::SteadyTime now, std::uint64_t random) {
    const bool was_probe = std::erase_if(leases_, [key](const Lease& lease) { return lease.key == key; }) > 0;
    if (said == Said::nothing) return;
    const bool slow = policy_.slow_call && took >= *policy_.slow_call;
    if (state_ == State::half_open && was_probe) {
        ++judged_.calls;
        if (said != Said::good && said != Said::alive) ++judged_.failed;
        if (slow) ++judged_.slow;
        judge_probes(now, random);
    } else if (lets_all() && said != Said::alive) {
        count(said, slow, now);
        const bool bad = said != Said::good || slow;
        if (state_ == State::closed && bad && trips(policy_, counts(now))) trip(now, random);
    }
}

void Breaker::count(Said said, bool slow, model::SteadyTime now) {
    tally_.add(Kind::calls, now);
    if (said == Said::good || now - last_failed_ >= policy_.window) in_row_ = row_calls_ = 0;
    if (said != Said::good) {
        tally_.add(Kind::failed, now);
        if (said == Said::failed) ++in_row_;
        ++row_calls_;
        last_failed_ = now;
    }
    if (slow) tally_.add(Kind::slow, now);
}

// As soon as the probes that are left can make no difference any more.
void Breaker::judge_probes(model::SteadyTime now, std::uint64_t random) {
    const auto all = policy_.half_open;
    const auto left = all - judged_.calls;
    const auto bad = [&](std::uint32_t failed_ones, std::uint32_t slow_ones) {
        return reaches(failed_ones, all, policy_.failure_rate) ||
               (policy_.slow_call && reaches(slow_ones, all, policy_.slow_rate));
    };
    if (bad(judged_.failed, judged_.slow)) {
        ++row_;
        open(now, random);
    } else if (!bad(judged_.failed + left, judged_.slow + left)) {
        closed_at_ = now;
        tally_.clear();
        in_row_ = row_calls_ = 0;
        enter(State::closed, std::nullopt, now);
    }
}

void Breaker::trip(model::SteadyTime now, std::uint64_t random) {
    if (state_ != State::closed) return;
    // Soon after the probes had closed it, it is the same trouble that goes on.
    row_ = closed_at_ && now - *closed_at_ < policy_.window ? row_ + 1 : 0;
    open(now, random);
}

void Breaker::open(model::SteadyTime now, std::uint64_t random) {
    const auto wait = grown(policy_.open_for, policy_.open_max, row_);
    enter(State::open, now + wait + full_jitter(wait / 5, random), now);
}

void Breaker::throttled(model::Milliseconds wait, model::SteadyTime now) {
    const bool heeds = state_ == State::closed || state_ == State::open || state_ == State::half_open;
    if (!heeds || (state_ == State::open && *until_ >= now + wait)) return;
    if (state_ == State::open) {
        until_ = now + wait;
    } else {
        enter(State::open, now + wait, now);
    }
}

void Breaker::timer_due(model::SteadyTime now) {
    std::erase_if(leases_, [now](const Lease& lease) { return lease.deadline <= now; });
    if (!until_ || now < *until_) return;
    if (state_ == State::open || state_ == State::forced_open) {
        enter(State::half_open, std::nullopt, now);
    } else {
        reset(now);
    }
}

model::SteadyTime Breaker::next() const {
    auto when = until_.value_or(model::SteadyTime::max());
    for (const auto& lease : leases_) when = std::min(when, lease.deadline);
    return when;
}

void Breaker::force(State state, std::optional<model::SteadyTime> until, model::SteadyTime now) {
    enter(state, until, now);
}

void Breaker::reset(model::SteadyTime now) {
    row_ = 0;
    closed_at_.reset();
    tally_.clear();
    in_row_ = row_calls_ = 0;
    enter(State::closed, std::nullopt, now);
}

void Breaker::enter(State state, std::optional<model::SteadyTime> until, model::SteadyTime now) {
    if (state != state_) since_ = now;
    state_ = state;
    until_ = until;
    judged_ = {};
    leases_.clear();
}

Breaker::Counts Breaker::counts(model::SteadyTime now) const {
    const auto counted = tally_.counts(now);
    return {counted[Kind::calls], counted[Kind::failed], counted[Kind::slow], in_row_, row_calls_};
}

}  // namespace retryd::core
