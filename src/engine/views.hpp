#pragma once
// What an operator is shown, built from the state on request.

#include "engine/state.hpp"
#include "model/status.hpp"

namespace retryd::engine {

[[nodiscard]] model::StatusView status_of(const State& state, const model::Clock& now);

}  // namespace retryd::engine
