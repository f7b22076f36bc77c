#pragma once
// Whether retries feed on themselves. Fed a look at the queues now and then (every 15 s), it says which state they are in, and
// how much of its normal rate the return lane gets.
//
//   spike  the work queue grows, and there are few retries: more traffic; scale out, nothing is damped
//   watch  many of the waiting messages are retries, and more calls fail than usual
//   storm  most are, or many calls fail and the ladder grows: the lane is damped, and the backoff is longer, until far fewer
//          fail and the ladder grows no more for a while; then the lane gets back what it had, step by step
//
// However many of the waiting messages are retries: where few calls fail that is no storm, but an idle work queue.
//
// What is not looked at does not change: while a queue is paused its figures and state are frozen.

#include "model/guards.hpp"
#include "model/time.hpp"

#include <cstdint>
#include <deque>
#include <optional>

namespace retryd::core {

class StormGuard {
public:
    using State = model::StormState;
    struct Look {
        std::uint64_t work = 0, lane = 0, delays = 0;  // messages that wait there
        std::uint32_t calls = 0, failed = 0;           // lately
    };

    // The policy outlives it.
    explicit StormGuard(const model::StormPolicy& policy) : policy_(policy) {}

    void looked(const Look& look, model::SteadyTime now);
    void paused();  // the next look is not compared with those before

    [[nodiscard]] State state() const { return state_; }
    [[nodiscard]] model::SteadyTime since() const { return since_; }
    // Of its normal rate, which the lane has now: 1 where it is not damped.
    [[nodiscard]] double lane_share() const { return share_ < 1 ? share_ : 1; }
    // Rungs that the backoff is longer.
    [[nodiscard]] std::uint32_t stretch() const { return state_ == State::storm ? policy_.stretch : 0; }

    // What it saw last, for those who ask why.
    struct Figures {
        double failure_rate = 0;    // 0..1
        double retry_messages = 0;  // of all that wait, 0..1
        double growth = 0;          // of the ladder, within the time that counts
        std::uint64_t retries = 0;  // messages
    };
    [[nodiscard]] const Figures& figures() const { return figures_; }
    [[nodiscard]] const model::StormPolicy& policy() const { return policy_; }

private:
    struct Depths {
        model::SteadyTime at;
        std::uint64_t ladder, work;
    };
    void measure(const Look& look, model::SteadyTime now);
    [[nodiscard]] State judged(const Look& look) const;
    [[nodiscard]] bool is_under_half() const;
    void enter(State state, model::SteadyTime now);

    const model::StormPolicy& policy_;
    State state_ = State::calm;
    model::SteadyTime since_{};
    std::optional<model::SteadyTime> half_since_;  // in a storm: all is under half since then
    double share_ = 1;                             // of the normal rate that the lane has; 1 and more: all
    Figures figures_;
    std::deque<Depths> depths_;  // within the time that counts
};

}  // namespace retryd::core
