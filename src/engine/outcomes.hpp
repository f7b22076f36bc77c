#pragma once
// What the guards are told: how each delivery ended, and what is given up.

#include "core/classify.hpp"
#include "core/decide.hpp"
#include "engine/state.hpp"

namespace retryd::engine {

// A delivery has ended, as judged; nothing: it was broken off, and says nothing.
void tell_guards(State& state, QueueState& queue, const Held& held, const core::Judgement* judgement);

// What they say to the decision for a message.
[[nodiscard]] core::GuardsView guards_view(const State& state, const QueueState& queue, const Held& held);

// What a decision costs the budgets.
void charge_budgets(State& state, QueueState& queue, const core::Verdict& verdict);

// One that may not be delivered now leaves as a held copy, and comes back the later the oftener it did, or each time soon.
void divert(State& state, Held& held, bool for_long);

}  // namespace retryd::engine
