#include "engine/guard_views.hpp"

#include <algorithm>
#include <chrono>

namespace retryd::engine {

using model::BreakerState;
using model::Milliseconds;

namespace {

Milliseconds between(model::SteadyTime from, model::SteadyTime to) {
    return std::max(std::chrono::duration_cast<Milliseconds>(to - from), Milliseconds{0});
}

std::string percent(model::Ratio ratio) {
    return std::to_string(static_cast<int>(ratio.value * 100 + 0.5)) + " %";
}

std::string seconds(Milliseconds span) {
    return std::to_string((span.count() + 999) / 1000) + " s";
}

std::string thresholds(const model::BreakerPolicy& policy) {
    auto text = "it opens at " + percent(policy.failure_rate) + " of at least " + std::to_string(policy.min_calls);
    if (policy.all_fail) text += ", or after " + std::to_string(*policy.all_fail) + " in a row";
    if (policy.slow_call)
        text += ", or when " + percent(policy.slow_rate) + " take " + std::to_string(policy.slow_call->count()) + " ms or more";
    return text;
}

std::string counted(const core::Breaker& breaker, core::Breaker::Counts counts) {
    if (counts.calls == 0) return "no calls in " + seconds(breaker.policy().window);
    auto text = std::to_string(counts.failed) + " of " + std::to_string(counts.calls) + " calls failed in " +
                seconds(breaker.policy().window);
    if (breaker.policy().slow_call) text += ", " + std::to_string(counts.slow) + " were slow";
    return text;
}

// Empty where it was not the counts that opened it: a reply asked for it, or a budget is spent.
std::string opening(const Guarded& guarded) {
    const auto& breaker = guarded.breaker;
    if (!core::Breaker::trips(breaker.policy(), guarded.opened_by)) return "";
    return "it opened when " + counted(breaker, guarded.opened_by) + " (" + thresholds(breaker.policy()) + "); ";
}

std::string why(const Guarded& guarded, core::Breaker::Counts counts, model::SteadyTime now) {
    const auto& breaker = guarded.breaker;
    const auto left = breaker.until() ? seconds(between(now, *breaker.until())) : std::string();
    switch (breaker.state()) {
        case BreakerState::closed: return counted(breaker, counts) + "; " + thresholds(breaker.policy());
        case BreakerState::open:
            return opening(guarded) + "the next " + std::to_string(breaker.policy().half_open) + " probes come in " + left +
                   (breaker.reopenings() > 0 ? ", after " + std::to_string(breaker.reopenings()) + " in vain" : "");
        case BreakerState::half_open:
            return std::to_string(breaker.judged().calls) + " of " + std::to_string(breaker.policy().half_open) +
                   " probes have ended, " + std::to_string(breaker.judged().failed) + " failed; " +
                   std::to_string(breaker.probes_in_flight()) + " at the consumer";
        case BreakerState::forced_open:
        case BreakerState::forced_closed:
        case BreakerState::disabled: break;
    }
    const auto end = left.empty() ? "until an operator says otherwise" : "for " + left + " more";
    return "by " + guarded.forced_by + ", " + end + "; " + counted(breaker, counts);
}

model::BreakerView view_of(const Guarded& guarded, const model::Clock& now) {
    const auto& breaker = guarded.breaker;
    const auto counts = breaker.counts(now.steady);
    model::BreakerView view;
    view.name = guarded.name;
    view.state = breaker.state();
    view.lasting = between(breaker.since(), now.steady);
    if (breaker.until()) view.left = between(now.steady, *breaker.until());
    view.window = breaker.policy().window;
    view.calls = counts.calls;
    view.failed = counts.failed;
    view.slow = counts.slow;
    view.probes_in_flight = breaker.probes_in_flight();
    view.why = explain(guarded, now);
    view.forced_by = guarded.forced_by;
    if (guarded.recovery) view.recovering_at = guarded.recovery->per_second();
    view.transitions = guarded.transitions;
    return view;
}

model::BreakerView view_of(const UnknownDependencies& unknown, const model::Clock& now) {
    model::BreakerView view;
    view.name = "other";
    view.state = BreakerState::disabled;
    view.is_unknown = true;
    view.lasting = between(unknown.since, now.steady);
    view.window = unknown.window;
    view.calls = view.failed = unknown.failed.counts(now.steady)[0];
    view.why = "replies name a dependency that the policy does not have, lately " + unknown.last + ": " +
               std::to_string(view.failed) + " failures in " + seconds(view.window) + ", counted by the queue's breaker";
    return view;
}

void show_budget(const std::optional<core::Budget>& budget, const std::optional<model::BudgetPolicy>& policy, const char* kind,
                 const model::Clock& now, model::QueueView& view) {
    if (budget)
        view.budgets.push_back(
            {kind, budget->tokens(now.steady), static_cast<double>(policy->burst), budget->is_spent(now.steady)});
}

}  // namespace

std::string explain(const Guarded& guarded, const model::Clock& now) {
    return why(guarded, guarded.breaker.counts(now.steady), now.steady);
}

std::vector<model::BreakerView> breaker_views(const State& state, const model::Clock& now) {
    std::vector<model::BreakerView> views;
    for (const auto& dependency : state.dependencies) views.push_back(view_of(dependency.guarded, now));
    for (const auto& queue : state.queues)
        for (const auto* one : {&queue.guards.consumer, &queue.guards.refusals, &queue.guards.last_tries})
            if (*one) views.push_back(view_of(**one, now));
    if (state.unknown_dependencies) views.push_back(view_of(*state.unknown_dependencies, now));
    return views;
}

void show_guards(const QueueState& queue, const model::Clock& now, model::QueueView& view) {
    const auto& guards = queue.guards;
    show_budget(guards.park, queue.policy.budgets.park, "park", now, view);
    show_budget(guards.dead_letter, queue.policy.budgets.dead_letter, "dead_letter", now, view);
    if (guards.storm) view.storm = guards.storm->state();
    view.storm_transitions = guards.storm_transitions;
    if (guards.lane_rate) view.lane_rate = guards.lane_rate->per_second();
    if (guards.paused) view.paused_by = guards.paused_by;
    if (guards.operator_share < 1) {
        view.throttled_by = guards.throttled_by;
        view.throttled_to = guards.operator_share;
    }
}

}  // namespace retryd::engine
