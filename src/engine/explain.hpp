#pragma once
// What is known of a message: in hand, and among the last decisions. Built on request.

#include "engine/state.hpp"
#include "model/status.hpp"

#include <string_view>

namespace retryd::engine {

[[nodiscard]] model::WhyView explain(const State& state, std::string_view id, const model::Clock& now);

}  // namespace retryd::engine
