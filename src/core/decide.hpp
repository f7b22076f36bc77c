#pragma once
// The decision for one message: a pure function of policy, facts, outcome, clock and chance.
//
// Three clocks, never one counter: attempts (spent by transient, timeout, permanent and a loss of the message's own), held
// time (spends no attempt), age (since the first failure, held time left out). The message's own expiry is a wall.

#include "core/classify.hpp"
#include "core/suspicion.hpp"
#include "model/ledger.hpp"
#include "model/policy.hpp"
#include "model/tiers.hpp"
#include "model/time.hpp"

#include <cstdint>
#include <optional>
#include <string_view>

namespace retryd::core {

// What is known of a message while we have it.
struct Stay {
    model::Ledger ledger = {};  // attempts of this stay included
    model::Side side = model::Side::work;
    Standing standing = Standing::trusted;  // as it arrived
    std::uint32_t quick_used = 0;           // quick tries taken in this stay
    bool draining = false;                  // nothing may wait in hand any more
};

// What the guards of the queue say at this moment; by default they say nothing.
struct GuardsView {
    bool no_quick = false;           // so much fails that quick retries only make it worse
    std::uint32_t stretch = 0;       // rungs that the backoff is longer
    bool park_spent = false;         // no more messages may be parked now
    bool dead_letter_spent = false;  // … dead-lettered
    bool is_probe = false;           // the delivery was to show whether a breaker can close: its failure is not the message's
};

enum class HeldBy : std::uint8_t { breaker, probe, park_budget, dead_letter_budget };  // that a guard is why it waits
[[nodiscard]] std::string_view to_text(HeldBy guard);

struct Verdict {
    enum class Kind : std::uint8_t {
        ack,    // done
        again,  // back to the head of the hand: a fact about the consumer, not about the message
        wait,   // stays in hand for `wait`, then is delivered
        tier,   // a copy into the tier of delay `wait`
        lane,   // a copy into the lane, at once
        lot,    // a copy into the lot that `reason` names
    };
    Kind kind = Kind::ack;
    model::Milliseconds wait{0};  // wait: how long; tier: the queue's delay
    model::TierKind tier = model::TierKind::delay;
    std::uint32_t rung = 0;                              // tier of kind delay: 1 for the first
    std::optional<model::Reason> reason = std::nullopt;  // lot
    std::optional<HeldBy> held_by = std::nullopt;        // tier of kind hold
    model::Ledger ledger = {};                           // as the copy, or the rest of the stay, carries it
};

// How many attempts a message can have: 1 + quick tries + delayed retries. Shown as Retryd-Max-Attempts.
[[nodiscard]] std::uint32_t max_attempts(const model::QueuePolicy& policy);

// `alone`: nothing else of the queue was in flight when the connection broke, nor was another message lost just before,
// of which the consumer may still be dying; only such a loss is the message's own.
[[nodiscard]] Verdict decide(const model::QueuePolicy& policy, const Stay& stay, const Judgement& judgement, bool alone,
                             model::WallTime now, std::uint64_t random, const GuardsView& guards = {});

// A message that has just arrived: nothing where it may be delivered, `wait` where it is under a second early, `tier`
// where it is earlier than that, `lot` where it has expired or is poison.
[[nodiscard]] std::optional<Verdict> on_arrival(const model::QueuePolicy& policy, const Stay& stay, model::WallTime now);

// The copy for the next trial of one that is accused, into the lane.
[[nodiscard]] Verdict stamp(const Stay& stay);
// The copy that goes behind all others in the lane, accused as before: a trial that its stamp was for does not take place.
[[nodiscard]] Verdict step_back(const Stay& stay);

// A message that has been in hand too long, or may not be delivered now, leaves as a held copy, without an attempt.
[[nodiscard]] Verdict hold(const model::QueuePolicy& policy, const Stay& stay, model::WallTime now,
                           const GuardsView& guards = {});

// A guard bars its way: it leaves as a held copy, and is not given up for that. `climbs`: to a rung higher each time, as it may
// take long; else to the first one, and the time counts as no hold.
[[nodiscard]] Verdict put_aside(const model::QueuePolicy& policy, const Stay& stay, model::WallTime now, bool climbs);

// What cannot be delivered at all (a body over max_body).
[[nodiscard]] Verdict refuse(const model::QueuePolicy& policy, const Stay& stay, model::WallTime now,
                             const GuardsView& guards = {});

}  // namespace retryd::core
