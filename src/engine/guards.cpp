#include "engine/guards.hpp"

#include "engine/gate.hpp"
#include "engine/state.hpp"

#include <algorithm>

namespace retryd::engine {

using namespace std::chrono_literals;
using model::BreakerState;

namespace {

constexpr double most_diversions = 2000;  // a second: copies cost the broker something

// One probe at a time, 1 s apart growing to 30 s: for what is not to be given up by the hundred.
const model::BreakerPolicy one_by_one{.window = 30s,
                                      .failure_rate = {0.5},
                                      .min_calls = 20,
                                      .all_fail = 20,
                                      .slow_call = std::nullopt,
                                      .slow_rate = {1},
                                      .open_for = 1s,
                                      .open_max = 30s,
                                      .half_open = 1};
const model::RecoverPolicy usual_recovery;

std::uint64_t pausing_needs(const model::Policy& policy, const model::QueuePolicy& queue) {
    std::uint64_t mask = 0;
    for (const auto& need : queue.needs) {
        const auto on_open = policy.dependencies[need.dependency].on_open;
        const bool pauses = on_open == model::OnOpen::pause || (on_open == model::OnOpen::automatic && need.when.any());
        if (pauses) mask |= std::uint64_t{1} << need.dependency;
    }
    return mask;
}

template <class Part, class Policy, class... More>
void make(std::optional<Part>& part, const std::optional<Policy>& policy, More&&... more) {
    if (policy) part.emplace(*policy, std::forward<More>(more)...);
}

const char* event_of(BreakerState state) {
    switch (state) {
        case BreakerState::closed: return "breaker_closed";
        case BreakerState::open: return "breaker_open";
        case BreakerState::half_open: return "breaker_half_open";
        case BreakerState::forced_open:
        case BreakerState::forced_closed:
        case BreakerState::disabled: break;
    }
    return "breaker_forced";
}

bool is_forced(BreakerState state) {
    return state == BreakerState::forced_open || state == BreakerState::forced_closed || state == BreakerState::disabled;
}

void log_change(State& state, const Guarded& guarded) {
    const auto& breaker = guarded.breaker;
    const auto counts = breaker.counts(state.now.steady);
    std::vector<std::pair<std::string_view, std::string>> fields{{"breaker", guarded.name},
                                                                 {"state", std::string(model::to_text(breaker.state()))}};
    if (breaker.state() == BreakerState::open) {
        fields.emplace_back("calls", std::to_string(counts.calls));
        fields.emplace_back("failed", std::to_string(counts.failed));
        if (counts.slow > 0) fields.emplace_back("slow", std::to_string(counts.slow));
    }
    if (is_forced(breaker.state())) fields.emplace_back("by", guarded.forced_by);
    if (breaker.until()) {
        const auto left = std::chrono::duration_cast<model::Milliseconds>(*breaker.until() - state.now.steady);
        fields.emplace_back("for_ms", std::to_string(left.count()));
    }
    const auto level = breaker.state() == BreakerState::open ? model::LogLevel::warn : model::LogLevel::info;
    log(state, level, event_of(breaker.state()), std::move(fields));
}

bool was_shut(BreakerState before) {
    return before == BreakerState::half_open || before == BreakerState::open || before == BreakerState::forced_open;
}

void follow_with_recovery(core::Recovery& recovery, BreakerState before, BreakerState after, model::SteadyTime now) {
    const bool opened = after == BreakerState::open || after == BreakerState::forced_open;
    if (opened && !was_shut(before)) recovery.opened(now);
    if (after == BreakerState::closed && was_shut(before)) recovery.closed(now);
    if (after == BreakerState::forced_closed || after == BreakerState::disabled) recovery.end();
}

void follow(State& state, Guarded& guarded, BreakerState before) {
    const auto after = guarded.breaker.state();
    ++guarded.transitions[static_cast<std::size_t>(after)];
    if (after == BreakerState::open && before == BreakerState::closed)
        guarded.opened_by = guarded.breaker.counts(state.now.steady);
    log_change(state, guarded);
    if (!is_forced(after)) guarded.forced_by.clear();
    if (guarded.recovery) follow_with_recovery(*guarded.recovery, before, after, state.now.steady);
    for (auto& queue : state.queues) {
        if (after == BreakerState::closed && is_stopped_by(state, queue, guarded)) queue.watch.begin_slowly(state.now.steady);
        state.touch(queue);
    }
}

std::uint64_t depth(const State& state, const model::QueueName& name) {
    const auto known = state.depths.find(name);
    return known == state.depths.end() ? 0 : known->second;
}

core::StormGuard::Look look_at(const State& state, const QueueState& queue) {
    core::StormGuard::Look look;
    look.work = depth(state, queue.policy.name);
    look.lane = depth(state, queue.policy.lane);
    for (const auto& [name, tier] : queue.tiers)
        if (tier.kind == "delay") look.delays += depth(state, name);
    const auto counts = queue.guards.calls->counts(state.now.steady);
    look.calls = counts[0];
    look.failed = counts[1];
    return look;
}

std::uint64_t waiting_at_the_broker(const State& state, const QueueState& queue) {
    auto sum = depth(state, queue.policy.name) + depth(state, queue.policy.lane);
    for (const auto& [name, tier] : queue.tiers) sum += depth(state, name);
    return sum;
}

// Nothing but a limit keeps its messages from the consumer.
bool flows(const State& state, const QueueState& queue) {
    return !is_shut(state, queue) && queue.watch.state() == core::ConsumerWatch::State::present;
}

// What a dependency recovers for may wait behind several queues: each says whether its own becomes less.
void tell_recoveries(State& state, QueueState& queue) {
    if (!flows(state, queue)) return;
    const auto waiting = waiting_at_the_broker(state, queue);
    const auto tell = [&](Guarded& guarded) {
        if (guarded.recovery && guarded.breaker.lets_all()) guarded.recovery->waiting(waiting, state.now.steady);
    };
    if (queue.guards.consumer) tell(*queue.guards.consumer);
    for (const auto& need : queue.policy.needs) tell(state.dependencies[need.dependency].guarded);
}

void log_storm(State& state, const QueueState& queue, model::StormState before) {
    const auto& storm = *queue.guards.storm;
    const auto percent = [](double share) { return std::to_string(static_cast<int>(share * 100)) + "%"; };
    const auto level = storm.state() == model::StormState::storm ? model::LogLevel::warn : model::LogLevel::info;
    log(state, level, "storm_state",
        {{"queue", queue.policy.name.value},
         {"state", std::string(model::to_text(storm.state()))},
         {"before", std::string(model::to_text(before))},
         {"failing", percent(storm.figures().failure_rate)},
         {"retries", std::to_string(storm.figures().retries)},
         {"retry_messages", percent(storm.figures().retry_messages)},
         {"growth", std::to_string(static_cast<int>(storm.figures().growth))}});
}

void look_for_storm(State& state, QueueState& queue) {
    auto& guards = queue.guards;
    auto& storm = *guards.storm;
    if (!flows(state, queue)) return storm.paused();
    const auto before = storm.state();
    storm.looked(look_at(state, queue), state.now.steady);
    if (storm.state() == before) return;
    ++guards.storm_transitions[static_cast<std::size_t>(storm.state())];
    log_storm(state, queue, before);
}

}  // namespace

Guarded::Guarded(std::string its_name, const model::BreakerPolicy& policy, const model::RecoverPolicy* recover,
                 model::SteadyTime now)
    : name(std::move(its_name)), breaker(policy, now) {
    if (recover != nullptr) recovery.emplace(*recover, now);
}

DependencyState::DependencyState(const model::DependencyPolicy& policy, model::SteadyTime now)
    : guarded(policy.name, policy.breaker, policy.recover ? &*policy.recover : nullptr, now) {
    make(rate, policy.rate, now);
    fallback_away.assign(policy.fallback.size(), now);
}

std::optional<std::size_t> DependencyState::fallback(model::SteadyTime now) const {
    const auto found = std::find_if(fallback_away.begin(), fallback_away.end(), [now](auto until) { return until <= now; });
    if (found == fallback_away.end()) return std::nullopt;
    return static_cast<std::size_t>(found - fallback_away.begin());
}

bool DependencyState::has_token(model::SteadyTime now) const {
    return (!rate || rate->has(now)) && (!guarded.recovery || guarded.recovery->may_go(now));
}

QueueGuards::QueueGuards(const model::Policy& policy, const model::QueuePolicy& queue, model::SteadyTime now)
    : pausing(pausing_needs(policy, queue)), diversions(most_diversions, most_diversions / 10, now) {
    const auto& name = queue.name.value;
    const auto window = queue.breaker ? queue.breaker->window : one_by_one.window;
    if (queue.breaker) consumer.emplace("queue:" + name, *queue.breaker, &usual_recovery, now);
    if (queue.budgets.dead_letter) refusals.emplace("bad-deploy:" + name, one_by_one, nullptr, now);
    if (queue.budgets.park) last_tries.emplace("last-tries:" + name, one_by_one, nullptr, now);
    if (queue.storm || queue.retry.skip_quick_above) calls.emplace(window);
    make(park, queue.budgets.park, window, now);
    make(dead_letter, queue.budgets.dead_letter, window, now);
    make(rate, queue.deliver.rate, now);
    make(storm, queue.storm);
    if (queue.deliver.adaptive) load.emplace(LoadControl{{}, core::ConcurrencyController(*queue.deliver.adaptive)});
}

void change(State& state, Guarded& guarded, const std::function<void(core::Breaker&)>& act) {
    const auto before = guarded.breaker.state();
    act(guarded.breaker);
    state.breakers_due = std::min(state.breakers_due, guarded.breaker.next());
    if (guarded.breaker.state() != before) follow(state, guarded, before);
}

void each_breaker(State& state, const std::function<void(Guarded&)>& visit) {
    for (auto& dependency : state.dependencies) visit(dependency.guarded);
    for (auto& queue : state.queues)
        for (auto* one : {&queue.guards.consumer, &queue.guards.refusals, &queue.guards.last_tries})
            if (*one) visit(**one);
}

void mind_breakers(State& state) {
    if (state.now.steady < state.breakers_due) return;
    state.breakers_due = model::SteadyTime::max();
    each_breaker(state, [&](Guarded& guarded) {
        if (guarded.breaker.next() > state.now.steady) {
            state.breakers_due = std::min(state.breakers_due, guarded.breaker.next());
        } else {
            change(state, guarded, [&](core::Breaker& breaker) { breaker.timer_due(state.now.steady); });
        }
    });
}

void look_for_storms(State& state) {
    for (auto& queue : state.queues) {
        tell_recoveries(state, queue);
        auto& guards = queue.guards;
        if (guards.storm) look_for_storm(state, queue);
        guards.lane_rates.looked(guards.lane_calls, !guards.lane_rate, state.now.steady);
        set_lane_rate(state, queue);
        state.touch(queue);
    }
}

void set_lane_rate(State& state, QueueState& queue) {
    auto& guards = queue.guards;
    const auto share = guards.storm ? guards.storm->lane_share() : 1;
    const auto rate = core::lane_rate(guards.lane_rates.normal(), share, guards.operator_share);
    if (!rate) {
        guards.lane_rate.reset();
    } else if (guards.lane_rate) {
        guards.lane_rate->set_rate(*rate, std::max(*rate, 1.0), state.now.steady);
    } else {
        guards.lane_rate.emplace(*rate, 1, state.now.steady);
    }
}

}  // namespace retryd::engine
