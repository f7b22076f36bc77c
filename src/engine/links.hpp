#pragma once
// The two links: connecting, coming up, going down, and what each means for the rest.

#include "engine/state.hpp"

namespace retryd::engine {

void connect_where_due(State& state);
void link_up(State& state, const ports::LinkUp& up);
void link_down(State& state, const ports::LinkDown& down);
void blocked(State& state, const std::string& why);
void unblocked(State& state);

}  // namespace retryd::engine
