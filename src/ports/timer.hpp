#pragma once
// The engine's one timer.

#include "model/time.hpp"

namespace retryd::ports {

class Timer {
public:
    virtual ~Timer() = default;
    // Asks for Engine::timer_due at or soon after `when`, instead of any earlier wish.
    virtual void arm(model::SteadyTime when) = 0;
};

}  // namespace retryd::ports
