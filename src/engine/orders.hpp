#pragma once
// What an operator orders of the guards. Forgotten when the process ends.

#include "engine/state.hpp"
#include "model/order.hpp"

#include <string_view>

namespace retryd::engine {

// `who` orders it, for the log. False: there is no such breaker, or no such queue.
[[nodiscard]] bool obey(State& state, const model::Order& order, std::string_view who);

}  // namespace retryd::engine
