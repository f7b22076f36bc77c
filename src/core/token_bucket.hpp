#pragma once
// So many a second, and so many at once after a rest. On steady time: no step of the wall clock reaches it.

#include "model/guards.hpp"
#include "model/time.hpp"

namespace retryd::core {

class TokenBucket {
public:
    // Begins full.
    TokenBucket(double per_second, double burst, model::SteadyTime now)
        : per_second_(per_second), burst_(burst), level_(burst), at_(now) {}
    TokenBucket(const model::RatePolicy& rate, model::SteadyTime now) : TokenBucket(rate.limit.per_second(), rate.burst, now) {}

    [[nodiscard]] bool has(model::SteadyTime now) const { return level(now) >= 1; }
    [[nodiscard]] bool is_full(model::SteadyTime now) const { return level(now) >= burst_; }
    [[nodiscard]] double level(model::SteadyTime now) const;
    // Ask has() before.
    void take(model::SteadyTime now);
    void empty(model::SteadyTime now);
    // What it earns from now on.
    void set_rate(double per_second, double burst, model::SteadyTime now);
    [[nodiscard]] double per_second() const { return per_second_; }
    // When there is a token; SteadyTime::max() where none ever comes.
    [[nodiscard]] model::SteadyTime next(model::SteadyTime now) const;

private:
    double per_second_;
    double burst_;
    double level_;
    model::SteadyTime at_;  // of the level
};

}  // namespace retryd::core
