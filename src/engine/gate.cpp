#include "engine/gate.hpp"

#include "engine/arrivals.hpp"
#include "engine/outcomes.hpp"
#include "engine/serving.hpp"
#include "engine/verdicts.hpp"

#include <algorithm>
#include <bit>

namespace retryd::engine {

using model::Side;
using model::SteadyTime;

namespace {

// A lease outlasts the delivery, so that how it ended is heard first.
constexpr model::Milliseconds lease_after_deadline{1000};

template <class Visit>
void each_bit(std::uint64_t mask, Visit visit) {
    for (; mask != 0; mask &= mask - 1) visit(static_cast<std::size_t>(std::countr_zero(mask)));
}

// Those of which an open one stops the queue. True: one of them is such that `holds`.
template <class Holds>
bool any_stopping(const State& state, const QueueState& queue, Holds holds) {
    const auto& guards = queue.guards;
    if (guards.consumer && holds(guards.consumer->breaker)) return true;
    if (guards.refusals && holds(guards.refusals->breaker)) return true;
    bool found = false;
    each_bit(guards.pausing, [&](std::size_t i) { found = found || holds(state.dependencies[i].guarded.breaker); });
    return found;
}

bool is_closed_to_all(const core::Breaker& breaker) {
    return !breaker.lets_all() && breaker.probes_due() == 0;
}

// What fails next is parked.
bool is_last_try(const QueueState& queue, const Held& held) {
    return held.side() == Side::lane && held.stay.ledger.retries >= queue.policy.retry.max;
}

// It lets nothing through, and does not stop the whole queue for that.
bool bars(const State& state, const QueueState& queue, std::size_t dependency) {
    const bool stops_the_queue = (queue.guards.pausing >> dependency & 1U) != 0;
    return !stops_the_queue && is_closed_to_all(state.dependencies[dependency].guarded.breaker);
}

// What may take its consumer down is not given to another one.
std::optional<std::size_t> fallback_from(const State& state, const Held& held, std::size_t dependency) {
    if (held.stay.standing != core::Standing::trusted) return std::nullopt;
    return state.dependencies[dependency].fallback(state.now.steady);
}

enum class Leave : std::uint8_t { go, wait, divert };

Leave leave_of(const State& state, const QueueState& queue, const Held& held) {
    const auto& last = queue.guards.last_tries;
    if (last && is_closed_to_all(last->breaker) && is_last_try(queue, held)) return Leave::divert;
    auto leave = Leave::go;
    each_bit(held.needs, [&](std::size_t i) {
        if (bars(state, queue, i)) {
            if (!fallback_from(state, held, i)) leave = Leave::divert;
        } else if (leave == Leave::go && !state.dependencies[i].has_token(state.now.steady)) {
            leave = Leave::wait;
        }
    });
    return leave;
}

bool none_is_barred(const QueueState& queue) {
    const auto& last = queue.guards.last_tries;
    return queue.policy.needs.empty() && (!last || last->breaker.lets_all());
}

// What one of its messages lacks, all lack.
bool all_need_the_same(const QueueState& queue) {
    const auto& needs = queue.policy.needs;
    return std::all_of(needs.begin(), needs.end(), [](const model::Need& need) { return need.when.any(); });
}

// True: it is out of the way. False: it stays where it is, and what is behind it waits.
bool put_aside(State& state, QueueState& queue, Held& held, Leave leave) {
    auto& guards = queue.guards;
    // From the lane it has been aside before: there it has its turn, so that every token is used.
    if (leave == Leave::wait && (held.side() == Side::lane || all_need_the_same(queue))) return false;
    if (leave == Leave::wait && guards.rationed.size() < queue.policy.prefetch / 2) {
        guards.rationed.push_back(held.key);
        return true;
    }
    if (!guards.diversions.has(state.now.steady)) return false;
    guards.diversions.take(state.now.steady);
    divert(state, held, leave == Leave::divert);
    return true;
}

Held* first_ready(State& state, std::deque<model::DeliveryKey>& list) {
    while (!list.empty()) {
        auto* held = state.hand.find(list.front());
        if (held != nullptr && held->state == Held::State::ready) return held;
        list.pop_front();
    }
    return nullptr;
}

void clear_front(State& state, QueueState& queue, std::deque<model::DeliveryKey>& list) {
    while (auto* held = first_ready(state, list)) {
        const auto leave = leave_of(state, queue, *held);
        if (leave == Leave::go) return;
        list.pop_front();
        if (put_aside(state, queue, *held, leave)) continue;
        list.push_front(held->key);
        return;
    }
}

// What waited for a token and may go now is first again.
void bring_back_rationed(State& state, QueueState& queue) {
    auto& rationed = queue.guards.rationed;
    auto* held = first_ready(state, rationed);
    if (held == nullptr || leave_of(state, queue, *held) == Leave::wait) return;
    rationed.pop_front();
    make_ready(state, *held, true);
}

void begin_probe(State& state, Guarded& guarded, Held& held) {
    if (guarded.breaker.state() != model::BreakerState::half_open) return;
    guarded.breaker.begin_probe(held.key, held.until + lease_after_deadline);
    state.breakers_due = std::min(state.breakers_due, guarded.breaker.next());
    held.is_probe = true;
}

}  // namespace

bool is_shut(const State& state, const QueueState& queue) {
    if (queue.guards.paused) return true;
    return any_stopping(state, queue, is_closed_to_all);
}

bool is_stopped_by(const State& state, const QueueState& queue, const Guarded& guarded) {
    return any_stopping(state, queue, [&](const core::Breaker& one) { return &one == &guarded.breaker; });
}

std::optional<std::uint32_t> probes_wanted(const State& state, const QueueState& queue) {
    std::optional<std::uint32_t> wanted;
    any_stopping(state, queue, [&](const core::Breaker& breaker) {
        if (breaker.probes_due() > 0)
            wanted = std::min(wanted.value_or(breaker.policy().half_open), breaker.policy().half_open);
        return false;
    });
    return wanted;
}

bool has_tokens(const State& state, const QueueState& queue) {
    const auto& guards = queue.guards;
    const auto now = state.now.steady;
    if (guards.rate && !guards.rate->has(now)) return false;
    return !guards.consumer || guards.consumer->recovery->may_go(now);
}

bool guards_let_lane(const State& state, const QueueState& queue) {
    return !queue.guards.lane_rate || queue.guards.lane_rate->has(state.now.steady);
}

bool may_go(const State& state, const QueueState& queue, const Held& held) {
    return none_is_barred(queue) || leave_of(state, queue, held) == Leave::go;
}

void set_aside_barred(State& state, QueueState& queue) {
    if (none_is_barred(queue)) return;
    const auto& last = queue.guards.last_tries;
    const bool by_itself = last && !last->breaker.lets_all() && last->forced_by.empty();
    if (by_itself && !queue.guards.park->is_spent(state.now.steady))
        change(state, *queue.guards.last_tries, [&](core::Breaker& breaker) { breaker.reset(state.now.steady); });
    for (auto* list : {&queue.ready[at(Side::work)], &queue.ready[at(Side::lane)], &queue.suspects, &queue.accused})
        clear_front(state, queue, *list);
    bring_back_rationed(state, queue);
}

std::optional<model::Fallback> fallback_of(const State& state, const QueueState& queue, const Held& held) {
    std::optional<model::Fallback> found;
    each_bit(held.needs, [&](std::size_t i) {
        if (found || !bars(state, queue, i)) return;
        if (const auto position = fallback_from(state, held, i)) found = {i, *position};
    });
    return found;
}

void began(State& state, QueueState& queue, Held& held) {
    auto& guards = queue.guards;
    const auto now = state.now.steady;
    held.is_probe = false;
    if (held.side() == Side::lane) {
        ++guards.lane_calls;
        if (guards.lane_rate) guards.lane_rate->take(now);
    }
    if (guards.rate) guards.rate->take(now);
    if (held.fallback) return;
    if (guards.consumer) {
        guards.consumer->recovery->went(now);
        begin_probe(state, *guards.consumer, held);
    }
    if (guards.refusals) begin_probe(state, *guards.refusals, held);
    if (guards.last_tries && is_last_try(queue, held)) begin_probe(state, *guards.last_tries, held);
    each_bit(held.needs, [&](std::size_t i) {
        auto& dependency = state.dependencies[i];
        if (dependency.rate) dependency.rate->take(now);
        if (dependency.guarded.recovery) dependency.guarded.recovery->went(now);
        begin_probe(state, dependency.guarded, held);
    });
}

void end_recovery(State& state, QueueState& queue) {
    const auto now = state.now.steady;
    if (auto& consumer = queue.guards.consumer; consumer && consumer->recovery->is_on())
        consumer->recovery->looked(has_ready(state, queue), now);
    for (const auto& need : queue.policy.needs) {
        auto& recovery = state.dependencies[need.dependency].guarded.recovery;
        if (recovery && recovery->is_on())
            recovery->looked(has_ready(state, queue) || first_ready(state, queue.guards.rationed) != nullptr, now);
    }
}

SteadyTime next_of_guards(const State& state, const QueueState& queue) {
    const auto& guards = queue.guards;
    const auto now = state.now.steady;
    auto when = SteadyTime::max();
    const auto at_next_token = [&](const core::TokenBucket& bucket) {
        if (!bucket.has(now)) when = std::min(when, bucket.next(now));
    };
    if (guards.rate) at_next_token(*guards.rate);
    if (guards.lane_rate) at_next_token(*guards.lane_rate);
    if (guards.consumer) when = std::min(when, guards.consumer->recovery->next(now));
    if (none_is_barred(queue)) return when;
    at_next_token(guards.diversions);
    for (const auto& need : queue.policy.needs) {
        const auto& dependency = state.dependencies[need.dependency];
        if (dependency.rate) at_next_token(*dependency.rate);
        if (dependency.guarded.recovery) when = std::min(when, dependency.guarded.recovery->next(now));
    }
    return when;
}

}  // namespace retryd::engine
