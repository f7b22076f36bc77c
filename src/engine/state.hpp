#pragma once
// All that the engine knows, in one place; the files of this room are free functions over it, one subject each.
//
// A turn: an event is handled (it changes the state and marks queues as touched), then turn() lets every touched queue go
// on as far as it can, flushes the commands and re-arms the one timer.

#include "core/consumer_watch.hpp"
#include "core/copies.hpp"
#include "core/floor.hpp"
#include "core/intake.hpp"
#include "core/link_watch.hpp"
#include "core/orphans.hpp"
#include "core/reconnect.hpp"
#include "core/subscription_watch.hpp"
#include "core/tier_watch.hpp"
#include "engine/agenda.hpp"
#include "engine/decisions.hpp"
#include "engine/engine.hpp"
#include "engine/guards.hpp"
#include "engine/hand.hpp"
#include "engine/line_limiter.hpp"
#include "engine/outbox.hpp"
#include "model/figures.hpp"
#include "model/policy.hpp"

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace retryd::engine {

// Chance, replayed from a seed (splitmix64: S. Vigna, public domain reference, constants from there).
class Chance {
public:
    explicit Chance(std::uint64_t seed) : state_(seed) {}
    std::uint64_t operator()() {
        std::uint64_t z = (state_ += 0x9e3779b97f4a7c15U);
        z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
        z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
        return z ^ (z >> 31U);
    }

private:
    std::uint64_t state_;
};

// The last message that was lost at the consumer.
struct LastLoss {
    std::string id;  // empty: none
    model::SteadyTime at{};
    bool answered_since = false;  // the consumer has answered something
};

// A delay or hold queue in use.
struct TierState {
    std::string kind;  // "delay", "hold"
    std::string time;  // "800ms"
    core::TierWatch watch;
};

struct QueueState {
    QueueState(model::QueueId its_id, const model::Policy& all, const model::QueuePolicy& its_policy, model::SteadyTime now)
        : id(its_id), policy(its_policy), watch(its_policy.deliver, now), guards(all, its_policy, now) {}

    model::QueueId id;
    const model::QueuePolicy& policy;
    core::ConsumerWatch watch;
    QueueGuards guards;
    std::string consumer_trouble;                                                 // why the consumer is away or misconfigured
    std::array<core::Intake, 2> intake{core::Intake(false), core::Intake(true)};  // by Side
    std::array<std::string, 2> intake_trouble;
    std::array<core::SubscriptionWatch, 2> subscription;
    std::array<std::uint64_t, 2> arrivals{};              // from this source so far
    std::array<bool, 2> ack_timeout{};                    // the broker closed the channel for a late ack
    std::array<std::deque<model::DeliveryKey>, 2> ready;  // by Side: the trusted
    std::deque<model::DeliveryKey> suspects, accused;     // ready, too
    core::Floor floor;
    LastLoss last_loss;
    model::DeliveryKey stamped;        // the original of the last copy that was made for a trial
    bool trial_runs = false;           // what is at the consumer is there for its trial
    std::uint32_t lane_steps = 0;      // the lane's prefetch is this many times greater than usual, for trials
    std::set<std::string> own_trials;  // ids of what was stamped, or came for its trial, since we began
    std::multimap<model::SteadyTime, model::DeliveryKey> waiting;
    std::multimap<model::SteadyTime, model::DeliveryKey> deadlines;  // of deliveries
    std::uint32_t in_hand = 0;
    std::uint32_t in_flight = 0;
    std::uint32_t lane_in_flight = 0;
    std::uint32_t copying = 0;
    std::uint64_t turn = 0;                                   // deliveries so far
    bool held_back = false;                                   // intake paused: too many copies can't leave
    model::SteadyTime next_sweep = model::SteadyTime::max();  // of the hand limit
    std::map<model::QueueName, TierState> tiers;
    std::optional<bool> lots_found;  // by the first look: then it is not the first time that the queue is served
    bool lane_seen = false;
    bool lane_was_there = false;                 // before it was missing
    std::optional<model::SteadyTime> lane_back;  // after it was missing
    bool touched = false;
};

struct LinkState {
    LinkState(const model::BrokerPolicy& broker, model::SteadyTime now);

    core::Reconnect reconnect;
    std::size_t address = 0;  // tried or in use
    std::string trouble;      // why it is down; empty while up
    bool ever_up = false;
    std::size_t refusals = 0;  // in a row: the broker itself said no
    core::LinkWatch watch;
    std::uint64_t answers = 0;  // of the broker, to questions and subscriptions
};

// What a look-up or a declaration was for; answers come in the order of the questions, on the link that was asked:
// the publish link for what copies need, the consume link for the rest.
struct Question {
    enum class Purpose : std::uint8_t { source, lot, target, depth, subscription };
    Purpose purpose = Purpose::depth;
    model::Source source;   // source, subscription; lot: for its queue
    model::QueueSpec spec;  // lot, target: declared where missing
    model::SteadyTime asked{};
};

struct State {
    State(model::PolicyPtr its_policy, Ports its_ports, Options its_options, const model::Clock& clock);

    model::PolicyPtr policy;
    Ports ports;
    Options options;
    model::Clock now;
    Chance chance;

    Hand hand;
    std::vector<QueueState> queues;                             // by QueueId
    std::vector<DependencyState> dependencies;                  // by position in the policy
    std::optional<UnknownDependencies> unknown_dependencies;    // nothing: no reply has named one
    model::SteadyTime breakers_due = model::SteadyTime::max();  // when one of them wants to be asked
    std::vector<std::size_t> touched;
    core::Copies copies;
    core::Orphans orphans;
    std::array<LinkState, 2> links;  // by ports::Link
    std::string broker_version;
    std::string blocked_why;
    model::SteadyTime blocked_since{};
    std::uint32_t frame_max = 131072;
    std::array<std::deque<Question>, 2> questions;     // by ports::Link: asked, not answered yet
    std::map<model::QueueName, std::uint64_t> depths;  // messages, as the broker last said
    model::SteadyTime next_depths = model::SteadyTime::max();
    model::Figures figures;
    std::uint64_t last_key = 0;
    bool ready = false;  // once true it stays
    bool memory_full = false;
    model::SteadyTime memory_full_since{};

    enum class Drain : std::uint8_t { no, finishing, closing, drained, stopped };
    Drain drain = Drain::no;
    bool stopping = false;  // it ends as soon as it is drained
    model::SteadyTime drain_since{};
    model::SteadyTime drain_deadline{};
    model::SteadyTime last_ack{};
    std::uint32_t acks_in_drain = 0;

    Decisions decisions;
    LineLimiter limiter;  // of lines about retries and the like

    Agenda agenda;
    Outbox to_consume, to_publish;   // looked at at the end of the turn
    core::CopyActions copy_actions;  // reused
    std::vector<std::size_t> due;    // reused

    [[nodiscard]] QueueState& queue(model::QueueId id) { return queues[id.value]; }
    [[nodiscard]] LinkState& link(ports::Link which) { return links[static_cast<std::size_t>(which)]; }
    [[nodiscard]] const LinkState& link(ports::Link which) const { return links[static_cast<std::size_t>(which)]; }
    [[nodiscard]] std::deque<Question>& questions_on(ports::Link which) { return questions[static_cast<std::size_t>(which)]; }
    void touch(QueueState& queue);
    [[nodiscard]] model::QueueFigures& figures_of(const QueueState& queue) { return figures.queues[queue.id.value]; }
};

[[nodiscard]] inline std::size_t at(model::Side side) {
    return static_cast<std::size_t>(side);
}

// One line of the log about a queue.
void log(State& state, model::LogLevel level, std::string_view event,
         std::vector<std::pair<std::string_view, std::string>> fields);

}  // namespace retryd::engine
