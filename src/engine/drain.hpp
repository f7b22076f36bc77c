#pragma once
// The orderly end: nothing new is taken, deliveries finish and their verdicts are carried out, the rest goes back to the
// broker uncounted, both links are closed. The one place that returns messages.

#include "engine/state.hpp"

namespace retryd::engine {

void begin_drain(State& state);
// Takes the next step of the drain, if its time has come. Called at the end of each turn.
void advance_drain(State& state);
[[nodiscard]] model::SteadyTime next_drain(const State& state);

// Sends what the turn has gathered.
void flush(State& state);

}  // namespace retryd::engine
