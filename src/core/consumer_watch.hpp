#pragma once
// Whether a queue's consumer is there: a state of the queue, never an attempt of a message.
//
//   away           nobody answers: connect probes, one at a time, 100 ms growing to 5 s with jitter
//   present        deliveries flow
//   misconfigured  it answered, but as one that is misconfigured or misaddressed: nothing is sent for a while
//   trying         one real message is let through, to see whether it is still misconfigured
//
// It starts away, with a probe due at once.

#include "model/time.hpp"

#include <cstdint>

namespace retryd::core {

class ConsumerWatch {
public:
    enum class State : std::uint8_t { away, present, misconfigured, trying };

    explicit ConsumerWatch(model::SteadyTime now) : since_(now), next_(now) {}

    // Facts.
    void answered(bool success, model::SteadyTime now);  // any reply but endpoint
    void endpoint(model::SteadyTime now, std::uint64_t random);
    void unavailable(model::SteadyTime now, std::uint64_t random);  // a delivery could not be sent
    void probe_succeeded(model::SteadyTime now);
    void probe_failed(model::SteadyTime now, std::uint64_t random);

    // Asked when the time of next() has come. True: start a connect probe now, and report how it ended.
    [[nodiscard]] bool timer_due(model::SteadyTime now);

    [[nodiscard]] State state() const { return state_; }
    [[nodiscard]] model::SteadyTime since() const { return since_; }
    // When timer_due wants to be asked: away and misconfigured only; SteadyTime::max() otherwise and while a probe runs.
    [[nodiscard]] model::SteadyTime next() const;
    // How many deliveries may be at the consumer at once: all of `concurrency`, one while trying, else none.
    [[nodiscard]] std::uint32_t permits(std::uint32_t concurrency) const;
    // It has answered 2xx since it became present: its 404 speaks of a message, not of a wrong path.
    [[nodiscard]] bool proven() const { return proven_; }

private:
    void enter(State state, model::SteadyTime now);
    void back_off(State state, model::SteadyTime now, std::uint64_t random);

    State state_ = State::away;
    model::SteadyTime since_;
    model::SteadyTime next_;
    std::uint32_t failures_ = 0;  // in a row; an answer ends the row
    bool probing_ = false;
    bool proven_ = false;
};

}  // namespace retryd::core
