#pragma once
// What an operator is shown of the guards.

#include "engine/state.hpp"
#include "model/status.hpp"

#include <string>
#include <vector>

namespace retryd::engine {

[[nodiscard]] std::vector<model::BreakerView> breaker_views(const State& state, const model::Clock& now);
// Why it is as it is: the counts, the threshold, and what comes next.
[[nodiscard]] std::string explain(const Guarded& guarded, const model::Clock& now);
// Budgets, storm, lane and pause of the queue, into its view.
void show_guards(const QueueState& queue, const model::Clock& now, model::QueueView& view);

}  // namespace retryd::engine
