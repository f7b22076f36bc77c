#pragma once
// What an operator can see and do; implemented by the engine, used by admin/ and metrics/ on the main loop.

#include "model/figures.hpp"
#include "model/status.hpp"

namespace retryd::ports {

class Operator {
public:
    virtual ~Operator() = default;
    [[nodiscard]] virtual model::StatusView status() const = 0;
    [[nodiscard]] virtual const model::Figures& figures() const = 0;
    // Begins to drain; said twice it changes nothing.
    virtual void drain() = 0;
};

}  // namespace retryd::ports
