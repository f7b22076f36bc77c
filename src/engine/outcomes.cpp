#include "engine/outcomes.hpp"

#include "core/ladder.hpp"
#include "engine/verdicts.hpp"
#include "model/ledger.hpp"

#include <algorithm>
#include <bit>

namespace retryd::engine {

using model::Outcome;
using Said = core::Breaker::Said;

namespace {

constexpr std::uint32_t enough_calls = 20;  // for a share of them to say something
constexpr std::size_t longest_name_shown = 64;

bool is_done(Outcome outcome) {
    return outcome == Outcome::success || outcome == Outcome::drop;
}

bool is_failure(Outcome outcome) {
    return outcome == Outcome::transient || outcome == Outcome::timeout || outcome == Outcome::lost;
}

// The dependency that the reply names; 0: one that the policy does not know.
std::uint64_t named(const State& state, std::string_view name) {
    const auto& all = state.policy->dependencies;
    const auto found = std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.name == name; });
    return found == all.end() ? 0 : std::uint64_t{1} << (found - all.begin());
}

void note_unknown(State& state, const core::Judgement& judgement) {
    auto& unknown = state.unknown_dependencies;
    if (!unknown) unknown.emplace(state.now.steady);
    unknown->failed.add(0, state.now.steady);
    unknown->last = model::cut_text(judgement.dependency, longest_name_shown);
}

// The dependencies that a failure is held against: the one that the reply names, else all that the message needs.
std::uint64_t blamed(State& state, const Held& held, const core::Judgement& judgement) {
    if (judgement.dependency.empty()) return held.needs;
    const auto blame = named(state, judgement.dependency);
    if (blame == 0 && (is_failure(judgement.outcome) || judgement.outcome == Outcome::throttled))
        note_unknown(state, judgement);
    return blame;
}

Said said_of_consumer(const core::Judgement& judgement, std::uint64_t blamed_others) {
    if (is_done(judgement.outcome)) return Said::good;
    if (is_failure(judgement.outcome)) return blamed_others != 0 ? Said::alive : Said::failed;
    return judgement.outcome == Outcome::permanent ? Said::alive : Said::nothing;
}

Said said_of_refusals(Outcome outcome) {
    if (outcome == Outcome::permanent) return Said::failed;
    return is_done(outcome) || outcome == Outcome::transient ? Said::good : Said::nothing;
}

Said said_of_last_tries(Outcome outcome) {
    if (is_done(outcome)) return Said::good;
    return is_failure(outcome) ? Said::failed : Said::nothing;
}

// One that was answered has been answered: else a probe would be free at once, and all that waits would be one in turn. Who
// asks for patience is not well yet.
Said said_of_probe(Outcome outcome) {
    if (outcome == Outcome::throttled) return Said::failed;
    return outcome == Outcome::unavailable || outcome == Outcome::endpoint ? Said::nothing : Said::alive;
}

struct Call {
    State& state;
    const Held& held;
    model::Microseconds took;
    Said said_of_probe = Said::nothing;  // where its outcome says nothing otherwise

    void tell(Guarded& guarded, Said said) const {
        auto& breaker = guarded.breaker;
        if (said == Said::nothing && breaker.state() == model::BreakerState::half_open) said = said_of_probe;
        const auto& slow_call = breaker.policy().slow_call;
        if (said == Said::failed && held.stay.quick_used > 0) said = Said::failed_again;
        // What changes nothing for sure is told without looking for changes: that is every call on a good day.
        const bool plain = said == Said::nothing || (said == Said::good && (!slow_call || took < *slow_call));
        if (plain && breaker.lets_all()) {
            breaker.ended(held.key, said, took, state.now.steady, 0);
        } else {
            change(state, guarded,
                   [&](core::Breaker& it) { it.ended(held.key, said, took, state.now.steady, state.chance()); });
        }
    }
};

model::Milliseconds left_alone_for(State& state, const QueueState& queue, const Guarded& guarded,
                                   const core::Judgement& judgement) {
    const auto asked = judgement.retry_after ? judgement.retry_after : judgement.delay;
    return core::spread_retry_after(queue.policy, asked.value_or(guarded.breaker.policy().open_for), state.chance());
}

void tell_dependencies(const Call& call, const QueueState& queue, const core::Judgement& judgement, std::uint64_t blame) {
    const auto outcome = judgement.outcome;
    const auto concerned = call.held.needs | (is_done(outcome) ? 0 : blame);
    for (auto mask = concerned; mask != 0; mask &= mask - 1) {
        auto& dependency = call.state.dependencies[static_cast<std::size_t>(std::countr_zero(mask))];
        const bool is_blamed = (blame & mask & (~mask + 1)) != 0;
        auto said = Said::nothing;
        if (is_done(outcome)) said = Said::good;
        if (is_failure(outcome) && is_blamed) said = Said::failed;
        call.tell(dependency.guarded, said);
        if (said == Said::good && dependency.guarded.recovery) dependency.guarded.recovery->succeeded(call.state.now.steady);
        if (outcome != Outcome::throttled || judgement.dependency.empty() || !is_blamed) continue;
        const auto wait = left_alone_for(call.state, queue, dependency.guarded, judgement);
        change(call.state, dependency.guarded, [&](core::Breaker& it) { it.throttled(wait, call.state.now.steady); });
    }
}

// A probe that says nothing gives its permits back.
void tell_nothing(const Call& call, QueueState& queue) {
    if (!call.held.is_probe) return;
    auto& guards = queue.guards;
    for (auto* one : {&guards.consumer, &guards.refusals, &guards.last_tries})
        if (*one) call.tell(**one, Said::nothing);
    for (auto mask = call.held.needs; mask != 0; mask &= mask - 1)
        call.tell(call.state.dependencies[static_cast<std::size_t>(std::countr_zero(mask))].guarded, Said::nothing);
}

void tell_queue(const Call& call, QueueState& queue, const core::Judgement& judgement, std::uint64_t blame) {
    auto& guards = queue.guards;
    const auto outcome = judgement.outcome;
    const auto now = call.state.now.steady;
    if (guards.consumer) {
        const bool counts = call.held.side() == model::Side::work || call.held.is_probe;
        call.tell(*guards.consumer, counts ? said_of_consumer(judgement, blame) : Said::nothing);
        if (is_done(outcome)) guards.consumer->recovery->succeeded(now);
    }
    if (guards.refusals) call.tell(*guards.refusals, said_of_refusals(outcome));
    const bool budget_is_spent = guards.last_tries && !guards.last_tries->breaker.lets_all();
    if (budget_is_spent && call.held.is_probe) call.tell(*guards.last_tries, said_of_last_tries(outcome));
    if (guards.calls && outcome != Outcome::unavailable) {
        guards.calls->add(0, now);
        if (is_failure(outcome)) guards.calls->add(1, now);
    }
    if (!is_done(outcome)) return;
    if (guards.park) guards.park->succeeded(now);
    if (guards.dead_letter) guards.dead_letter->succeeded(now);
}

void sense_load(const Call& call, QueueState& queue, const core::Judgement& judgement) {
    if (!queue.guards.load) return;
    auto& [sensor, controller] = *queue.guards.load;
    const auto outcome = judgement.outcome;
    const bool pushed_back = outcome == Outcome::throttled || outcome == Outcome::timeout;
    const auto took = is_done(outcome) ? std::optional(call.took) : std::nullopt;
    const bool saturated = queue.in_flight + 1 >= controller.limit();
    if (const auto round = sensor.ended(took, pushed_back, saturated, call.state.now.steady)) controller.update(*round);
}

bool nothing_fresh_waits(const State& state, const QueueState& queue) {
    const auto depth = state.depths.find(queue.policy.name);
    return queue.ready[at(model::Side::work)].empty() && (depth == state.depths.end() || depth->second == 0);
}

bool is_spent(const std::optional<core::Budget>& budget, model::SteadyTime now) {
    return budget && budget->tokens(now) < 1;
}

// A token, or the reason to go on one by one.
void take_or_trip(State& state, std::optional<core::Budget>& budget, std::optional<Guarded>& pace) {
    if (!budget || budget->take(state.now.steady)) return;
    change(state, *pace, [&](core::Breaker& breaker) { breaker.trip(state.now.steady, state.chance()); });
}

}  // namespace

void tell_guards(State& state, QueueState& queue, const Held& held, const core::Judgement* judgement) {
    Call call{state, held, state.now.steady - held.since};
    if (judgement == nullptr) return tell_nothing(call, queue);
    call.said_of_probe = said_of_probe(judgement->outcome);
    const auto blame = blamed(state, held, *judgement);
    // What is held against a dependency that would not stop this message is held against its consumer, too.
    tell_queue(call, queue, *judgement, is_failure(judgement->outcome) ? blame & held.needs : 0);
    tell_dependencies(call, queue, *judgement, blame);
    sense_load(call, queue, *judgement);
}

core::GuardsView guards_view(const State& state, const QueueState& queue, const Held& held) {
    const auto& guards = queue.guards;
    const auto now = state.now.steady;
    core::GuardsView view;
    if (const auto& above = queue.policy.retry.skip_quick_above) {
        const auto [all, failed] = guards.calls->counts(now);
        view.no_quick = all >= enough_calls && failed > above->value * all;
    }
    if (guards.storm) view.stretch = guards.storm->stretch();
    view.park_spent = is_spent(guards.park, now);
    view.dead_letter_spent = is_spent(guards.dead_letter, now);
    // Without anything fresh, what is doomed must be charged for its failure: else it would never be parked.
    view.is_probe = held.is_probe && (held.side() == model::Side::work || !nothing_fresh_waits(state, queue));
    return view;
}

void charge_budgets(State& state, QueueState& queue, const core::Verdict& verdict) {
    auto& guards = queue.guards;
    const auto reason = verdict.reason;
    if (verdict.held_by == core::HeldBy::dead_letter_budget || reason == model::Reason::permanent)
        return take_or_trip(state, guards.dead_letter, guards.refusals);
    const bool parks = reason == model::Reason::exhausted || reason == model::Reason::age || reason == model::Reason::held;
    if (parks || verdict.held_by == core::HeldBy::park_budget) take_or_trip(state, guards.park, guards.last_tries);
}

void divert(State& state, Held& held, bool for_long) {
    auto verdict = core::put_aside(state.queue(held.queue()).policy, held.stay, state.now.wall, for_long);
    verdict.held_by = core::HeldBy::breaker;
    carry_out_uncounted(state, held, verdict);
}

}  // namespace retryd::engine
