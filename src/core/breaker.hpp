#pragma once
// Whether something that calls depend on works: a consumer, a dependency behind it. What fails too often is left alone for a
// while, and then asked again by a few calls.
//
//   closed ─too many fail─▶ open ─its time is over─▶ half_open ─the probes are judged─▶ closed, or open for twice as long
//
// Protocol: ask lets_all() or probes_due() before a call; begin_probe() for one that goes as a probe; ended() for every call,
// whatever became of it. A probe's permit is a lease: ended() frees it, or its deadline does, so none is ever lost.
// Probes are judged as the window is, by failure_rate: of three that fail by half, the second one to fail reopens it.
// What began before it opened says nothing afterwards.
//
// Failures in a row open it at once, however many calls succeeded before. Where some fail on a good day, rows of them come by
// chance, too: so a row must be longer than chance makes it. A message that is tried again in place lengthens no row.

#include "core/tally.hpp"
#include "model/guards.hpp"
#include "model/names.hpp"
#include "model/time.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace retryd::core {

class Breaker {
public:
    using State = model::BreakerState;
    // What a call says of it.
    enum class Said : std::uint8_t {
        nothing,
        alive,  // it answered, and the trouble was another's: not counted, but a probe may ask no more
        good,
        failed,
        failed_again,  // a message that had failed just before
    };

    // The policy outlives it.
    Breaker(const model::BreakerPolicy& policy, model::SteadyTime now);

    // Calls pass as they like.
    [[nodiscard]] bool lets_all() const {
        return state_ == State::closed || state_ == State::forced_closed || state_ == State::disabled;
    }
    // How many more probes may begin now.
    [[nodiscard]] std::uint32_t probes_due() const;
    void begin_probe(model::DeliveryKey key, model::SteadyTime deadline);
    // Whether this call is a probe of it.
    [[nodiscard]] bool is_probe(model::DeliveryKey key) const;

    // Facts.
    void ended(model::DeliveryKey key, Said said, model::Microseconds took, model::SteadyTime now, std::uint64_t random);
    // It asked to be left alone for so long.
    void throttled(model::Milliseconds wait, model::SteadyTime now);
    // It is known to be of no use, whatever the calls said.
    void trip(model::SteadyTime now, std::uint64_t random);
    void extended(model::DeliveryKey key, model::SteadyTime deadline);  // the probe has more time
    // Asked when the time of next() has come.
    void timer_due(model::SteadyTime now);
    // When timer_due wants to be asked; SteadyTime::max() for never.
    [[nodiscard]] model::SteadyTime next() const;

    // By an operator: forced_open, forced_closed or disabled, for so long or until another word. After a forced opening come
    // probes.
    void force(State state, std::optional<model::SteadyTime> until, model::SteadyTime now);
    void reset(model::SteadyTime now);  // closed, nothing counted, nothing grown

    [[nodiscard]] State state() const { return state_; }
    [[nodiscard]] model::SteadyTime since() const { return since_; }                 // of the state
    [[nodiscard]] std::optional<model::SteadyTime> until() const { return until_; }  // open, forced: when it ends by itself
    [[nodiscard]] std::uint32_t probes_in_flight() const { return static_cast<std::uint32_t>(leases_.size()); }
    [[nodiscard]] std::uint32_t reopenings() const { return row_; }  // in a row: each doubles the time
    [[nodiscard]] const model::BreakerPolicy& policy() const { return policy_; }

    struct Counts {
        std::uint32_t calls = 0, failed = 0, slow = 0;
        std::uint32_t in_row = 0;     // messages that failed, without a good call since
        std::uint32_t row_calls = 0;  // … with their further tries
    };
    [[nodiscard]] Counts counts(model::SteadyTime now) const;  // within the window
    [[nodiscard]] Counts judged() const { return judged_; }    // of the probes
    [[nodiscard]] static bool trips(const model::BreakerPolicy& policy, const Counts& counts);

private:
    struct Lease {
        model::DeliveryKey key;
        model::SteadyTime deadline;
    };
    void enter(State state, std::optional<model::SteadyTime> until, model::SteadyTime now);
    void open(model::SteadyTime now, std::uint64_t random);
    void judge_probes(model::SteadyTime now, std::uint64_t random);
    void count(Said said, bool slow, model::SteadyTime now);

    const model::BreakerPolicy& policy_;
    State state_ = State::closed;
    model::SteadyTime since_;
    std::optional<model::SteadyTime> until_;
    std::optional<model::SteadyTime> closed_at_;  // after probes
    std::uint32_t row_ = 0;
    std::vector<Lease> leases_;
    Counts judged_;
    Tally<3> tally_;  // calls, failed, slow
    std::uint32_t in_row_ = 0;
    std::uint32_t row_calls_ = 0;
    model::SteadyTime last_failed_{};
};

}  // namespace retryd::core
