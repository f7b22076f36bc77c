#pragma once
// What an operator is shown: built on request on the main loop, plain values. admin/ and metrics/ only render it.

#include "model/figures.hpp"
#include "model/guards.hpp"
#include "model/names.hpp"
#include "model/outcome.hpp"
#include "model/time.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace retryd::model {

struct StallView {
    Cause cause = Cause::broker_down;
    std::string detail;  // a sentence: what, since when it cannot, what would heal it
    Milliseconds lasting{0};
};

// A breaker, and why it is as it is.
struct BreakerView {
    std::string name;  // "queue:orders", a dependency's name …
    BreakerState state = BreakerState::closed;
    Milliseconds lasting{0};                        // of the state
    std::optional<Milliseconds> left;               // open: until the next probes; forced: until it ends
    Milliseconds window{0};                         // of the counts
    std::uint32_t calls = 0, failed = 0, slow = 0;  // within the window
    std::uint32_t probes_in_flight = 0;
    std::string why;           // a sentence: the counts, the threshold, and what comes next
    std::string forced_by;     // an operator; empty: it is as it is by itself
    bool is_unknown = false;   // no breaker: what replies call so and the policy does not have
    double recovering_at = 0;  // calls a second that the rate is limited to after it closed; 0: not limited
    std::array<std::uint64_t, breaker_state_count> transitions{};  // into each state, since the start
};

struct BudgetView {
    std::string kind;  // "park", "dead_letter"
    double tokens = 0;
    double burst = 0;
    bool spent = false;
};

struct DepthView {
    QueueName queue;
    std::string kind;            // "work", "lane", "delay", "hold", "parked", "dlq"
    std::string tier;            // the delay or hold rung's time: "800ms"; empty for the others
    std::uint64_t messages = 0;  // as the broker last said
};

struct QueueView {
    QueueName name;
    std::string consumer;  // "http://127.0.0.1:8080/orders", "unix:/run/app.sock"
    std::string state;     // "flowing", or the first cause
    std::vector<StallView> stalls;
    std::uint32_t in_hand = 0;    // unacked, whatever becomes of them
    std::uint32_t in_flight = 0;  // handed to a consumer
    std::uint32_t suspects = 0;   // of taking their consumer down: kept apart from the others
    std::uint32_t waiting_quick = 0;
    std::uint32_t being_copied = 0;       // published, not confirmed yet
    std::uint32_t concurrency = 0;        // in force: found out, where the policy leaves it open
    std::uint32_t concurrency_max = 0;    // as the policy has it
    std::uint32_t slots = 0;              // of concurrency, open now: fewer while the consumer starts, none while it is away
    std::optional<std::uint32_t> credit;  // further deliveries that the consumer takes now; nothing: it sets no limit
    bool held_back = false;               // intake pauses: too many copies cannot leave
    std::array<std::uint64_t, outcome_count> deliveries{};  // by outcome, since the start
    double delivery_seconds = 0;                            // all of them together
    std::vector<BudgetView> budgets;
    std::optional<StormState> storm;  // nothing: not guarded
    std::array<std::uint64_t, storm_state_count> storm_transitions{};
    std::optional<double> lane_rate;  // calls a second that the lane may have; nothing: not damped
    std::string paused_by;            // an operator; empty: not paused
    std::string throttled_by;         // the same of the lane
    double throttled_to = 1;          // of its normal rate
    bool subscribed_work = false;
    bool subscribed_lane = false;
    std::vector<DepthView> depths;  // empty: not asked yet
};

struct LinkView {
    std::string name;  // "consume", "publish"
    bool up = false;
    bool blocked = false;  // the broker's alarm; publish only
    std::string address;   // user@host:port/vhost
    std::string trouble;   // why it is down or blocked; empty otherwise
};

struct StatusView {
    WallTime at;  // when this was seen
    std::string version;
    std::string policy_hash;
    std::string broker_version;  // as the broker's properties say; empty before the first login
    bool ready = false;          // /readyz
    bool draining = false;
    bool drained = false;           // … and done: nothing is in hand, the links are closed
    std::uint64_t memory_used = 0;  // bytes, by what is in hand
    std::uint64_t memory_limit = 0;
    std::vector<LinkView> links;
    std::vector<BreakerView> breakers;
    std::vector<QueueView> queues;
};

// A message in hand, for `why`.
struct InHandView {
    enum class State : std::uint8_t { ready, waiting, at_consumer, copying };
    QueueName queue;
    State state = State::ready;
    std::uint32_t attempt = 1;  // the one that it is at, or that comes next
    std::uint32_t max_attempts = 1;
    Milliseconds lasting{0};           // of the state
    std::optional<Milliseconds> left;  // at_consumer: until retryd stops waiting; waiting: until the next try
    QueueName place;                   // copying: where the copy goes
    bool suspect = false;              // of taking its consumer down: kept apart from those that are not
};

// One decision on a message, for `why`.
struct DecisionView {
    enum class Kind : std::uint8_t { done, quick_retry, retry, hold, lane, trial, lot };
    WallTime at;
    QueueName queue;
    Kind kind = Kind::done;
    std::optional<Outcome> outcome;  // that led to it; nothing: none did
    std::optional<Reason> reason;    // lot
    std::uint32_t attempts = 0;      // spent by then
    Milliseconds wait{0};            // quick_retry, retry, hold
    std::string held_by = {};        // hold: the guard that is why; empty: none
    QueueName place;                 // where its copy went; empty: none
    std::string error;               // "type: message", cut; empty: none
};

// What is known of the messages of one id. An id is the message-id, or the retryd-id that a message without one was given.
struct WhyView {
    WallTime at;
    std::string id;
    std::vector<InHandView> in_hand;
    std::vector<DecisionView> decisions;  // newest first
    std::size_t left_out = 0;             // of both: of one id the newest hundred are told
    std::size_t remembered = 0;           // decisions, about all messages
    std::optional<WallTime> oldest;       // of them
    std::vector<QueueName> lots;          // where it may lie, unknown to retryd
};

}  // namespace retryd::model
