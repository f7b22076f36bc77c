#pragma once
// How many messages may be given up: parked, or dead-lettered. Successes earn tokens, giving up spends them, and while the
// queue has successes a few come by themselves. Who gives up more than that does not have bad messages but a bad deploy.

#include "model/guards.hpp"
#include "model/time.hpp"

#include <optional>

namespace retryd::core {

class Budget {
public:
    // Begins with `burst` tokens. Without a success within `window` the floor earns nothing. The policy outlives it.
    Budget(const model::BudgetPolicy& policy, model::Milliseconds window, model::SteadyTime now);

    void succeeded(model::SteadyTime now);
    // True: one is spent. False: there is none, and it stays spent until there is one.
    [[nodiscard]] bool take(model::SteadyTime now);

    [[nodiscard]] double tokens(model::SteadyTime now) const;
    // A token was wanted, and there was none, nor has there been one since.
    [[nodiscard]] bool is_spent(model::SteadyTime now) const { return wanting_ && tokens(now) < 1; }
    [[nodiscard]] std::optional<model::SteadyTime> spent_since() const { return wanting_; }

private:
    const model::BudgetPolicy& policy_;
    model::Milliseconds window_;
    double tokens_;
    model::SteadyTime at_;                      // of the tokens
    std::optional<model::SteadyTime> success_;  // the last one
    std::optional<model::SteadyTime> wanting_;
};

}  // namespace retryd::core
