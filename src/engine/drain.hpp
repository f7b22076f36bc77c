#pragma once
// The orderly end: nothing new is taken, deliveries finish and their verdicts are carried out, the rest goes back to the
// broker uncounted, both links are closed. The one place that returns messages. One that an operator asked for leaves the
// engine idle until it is stopped.

#include "engine/state.hpp"

#include <string_view>

namespace retryd::engine {

// `who` is for the log.
void begin_drain(State& state, std::string_view who);
// Takes the next step of the drain, if its time has come. Called at the end of each turn.
void advance_drain(State& state);
[[nodiscard]] model::SteadyTime next_drain(const State& state);

// Hands the links what was gathered, unless it may wait for more.
void flush(State& state);

}  // namespace retryd::engine
