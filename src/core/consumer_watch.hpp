#pragma once
// Whether a queue's consumer is there: a state of the queue, never an attempt of a message.
//
//   away           nobody answers: probes, one at a time, 100 ms growing to 5 s with jitter
//   not_ready      it answers the standing gate's probe, but not with 2xx: probes at the gate's own pace
//   present        deliveries flow; with a standing gate the probes go on
//   misconfigured  it answered a delivery as one that is misconfigured or misaddressed: nothing is sent for a while, and
//                  with a standing gate nothing before it has said again that it is ready
//   trying         one real message is let through, to see whether it is still misconfigured, or really back: a consumer
//                  that has been away must answer one before it is given more (each return costs a delivery count)
//
// It starts away, with a probe due at once; found there at the first look, it is present. When it becomes present it is given one delivery at a time, then twice as
// many after each round that succeeded, and all of them at the latest after the slow start's time.

#include "model/policy.hpp"
#include "model/time.hpp"

#include <cstdint>
#include <optional>

namespace retryd::core {

class ConsumerWatch {
public:
    enum class State : std::uint8_t { away, not_ready, present, misconfigured, trying };

    ConsumerWatch(const model::DeliverPolicy& policy, model::SteadyTime now)
        : gate_(policy.ready), slow_start_(policy.slow_start), dials_in_(policy.stream.has_value()), since_(now), next_(now) {}

    // Facts.
    void answered(bool success, model::SteadyTime now);  // any reply but endpoint
    void endpoint(model::SteadyTime now, std::uint64_t random);
    void unavailable(model::SteadyTime now, std::uint64_t random);  // a delivery could not be sent
    void probe_succeeded(model::SteadyTime now);
    void probe_refused(model::SteadyTime now);  // answered, but not ready
    void probe_failed(model::SteadyTime now, std::uint64_t random);

    // What stopped deliveries for another reason is over: it is given one at a time first, where it is present.
    void begin_slowly(model::SteadyTime now);

    // Asked when the time of next() has come. True: start a probe now, and report how it ended.
    [[nodiscard]] bool timer_due(model::SteadyTime now);

    [[nodiscard]] State state() const { return state_; }
    // One message is tried because it was misconfigured, not because it was away.
    [[nodiscard]] bool is_misconfigured() const {
        return state_ == State::misconfigured || (state_ == State::trying && tried_from_ == State::misconfigured);
    }
    [[nodiscard]] model::SteadyTime since() const { return since_; }
    // When timer_due wants to be asked, or permits() changes by itself; SteadyTime::max() for never.
    [[nodiscard]] model::SteadyTime next() const;
    // How many deliveries may be at the consumer at once: of `concurrency` what the slow start allows, one while trying,
    // else none.
    [[nodiscard]] std::uint32_t permits(std::uint32_t concurrency, model::SteadyTime now) const;
    // It has answered 2xx since it became present: its 404 speaks of a message, not of a wrong path.
    [[nodiscard]] bool proven() const { return proven_; }

private:
    friend struct Portrait;  // tests/sim/portrait
    void enter(State state, model::SteadyTime now);
    void back_off(State state, model::SteadyTime now, std::uint64_t random);
    [[nodiscard]] bool probes() const;

    std::optional<model::ReadyPolicy> gate_;
    std::optional<model::Milliseconds> slow_start_;
    bool dials_in_;  // a stream: whoever comes has said hello, which is proof enough
    State state_ = State::away;
    model::SteadyTime since_;
    model::SteadyTime next_;
    std::uint32_t failures_ = 0;  // in a row; an answer ends the row
    std::uint32_t gate_row_ = 0;  // probes in a row that speak against the present state
    bool probing_ = false;
    bool proven_ = false;
    State tried_from_ = State::away;            // where the present try comes from
    std::uint32_t allowed_ = 1;                 // the slow start's limit
    std::uint32_t succeeded_ = 0;               // in this round of it
    std::optional<model::SteadyTime> full_at_;  // the slow start's end, while it lasts
};

}  // namespace retryd::core
