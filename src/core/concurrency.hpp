#pragma once
// How many deliveries the consumer can have at once, found out: a sensor makes rounds of what deliveries took, a controller
// turns each round into a limit, and whoever hands out deliveries keeps to it.
//
//   if (const auto round = sensor.ended(took, pushed_back, in_flight >= controller.limit(), now)) controller.update(*round);

#include "model/guards.hpp"
#include "model/time.hpp"

#include <cstdint>
#include <optional>

namespace retryd::core {

// What deliveries were like for a while.
struct LoadRound {
    double seconds = 0;        // that one took, in the mean of those that succeeded; 0: none did
    bool pushed_back = false;  // the consumer said throttled, or did not answer in time
    bool saturated = false;    // the limit was reached: more might have gone
};

class LoadSensor {
public:
    // A delivery has ended: `took` where it succeeded. Gives the round that it completes: of half a second and ten deliveries
    // at least.
    [[nodiscard]] std::optional<LoadRound> ended(std::optional<model::Microseconds> took, bool pushed_back, bool saturated,
                                                 model::SteadyTime now);

private:
    std::optional<model::SteadyTime> begun_;
    LoadRound round_;
    std::uint32_t successes_ = 0;
    std::uint32_t all_ = 0;
};

// Grows by one a round while latency is flat and the limit is what holds deliveries up; twice as fast until it first shrinks.
// Shrinks by a sixth when latency is over one and a half times the best, by a third when the consumer pushes back. What the
// best is, is measured anew now and then, at half the limit.
class ConcurrencyController {
public:
    explicit ConcurrencyController(const model::AdaptiveConcurrency& limits) : limits_(limits), limit_(limits.min) {}

    void update(const LoadRound& round);
    [[nodiscard]] std::uint32_t limit() const { return limit_; }
    [[nodiscard]] double best_seconds() const { return best_; }  // 0: not known yet

private:
    void shrink_to(double share);

    model::AdaptiveConcurrency limits_;
    std::uint32_t limit_;
    double best_ = 0;
    bool doubling_ = true;
    std::uint32_t rounds_ = 0;                // since the best was measured
    std::optional<std::uint32_t> measuring_;  // the limit to go back to
};

}  // namespace retryd::core
