#pragma once
// The engine's inside, for engine.cpp and invariants.cpp.

#include "engine/engine.hpp"
#include "engine/state.hpp"

#include <optional>

namespace retryd::engine {

struct Engine::Parts {
    model::PolicyPtr policy;
    Ports ports;
    Options options;
    std::optional<State> state;  // from start() on

    // Lets `act` change the state at that time, and everything that it touches go on.
    template <class Act>
    void at(const model::Clock& now, Act act);
};

}  // namespace retryd::engine
