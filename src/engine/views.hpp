#pragma once
// What an operator is shown, built from the state on request.

#include "engine/state.hpp"
#include "model/status.hpp"

namespace retryd::engine {

[[nodiscard]] model::StatusView status_of(const State& state, const model::Clock& now);
// Policy in force, both links have been up, every queue looked up (found or missing). Does not turn back.
[[nodiscard]] bool is_ready(const State& state);

}  // namespace retryd::engine
