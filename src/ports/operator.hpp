#pragma once
// What an operator can see and do; implemented by the engine, used by admin/ and metrics/ on the main loop.

#include "model/figures.hpp"
#include "model/order.hpp"
#include "model/status.hpp"

#include <string_view>

namespace retryd::ports {

class Operator {
public:
    virtual ~Operator() = default;
    [[nodiscard]] virtual model::StatusView status() const = 0;
    // What is known of the messages of this id: in hand, and among the last decisions.
    [[nodiscard]] virtual model::WhyView why(std::string_view id) const = 0;
    [[nodiscard]] virtual const model::Figures& figures() const = 0;
    // Takes nothing new, finishes, and stays idle until it is stopped. `who` asked for it, for the log. Said twice it changes
    // nothing.
    virtual void drain(std::string_view who) = 0;
    // False: there is no such breaker, or no such queue.
    [[nodiscard]] virtual bool obey(const model::Order& order, std::string_view who) = 0;
};

}  // namespace retryd::ports
