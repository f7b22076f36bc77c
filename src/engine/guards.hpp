#pragma once
// The guards as the engine has them: those of each queue, and those of each dependency, which all queues that need it share.
// How they are asked is in engine/gate, what they are told in engine/outcomes.

#include "core/breaker.hpp"
#include "core/budget.hpp"
#include "core/concurrency.hpp"
#include "core/lane_rate.hpp"
#include "core/recovery.hpp"
#include "core/storm_guard.hpp"
#include "core/tally.hpp"
#include "core/token_bucket.hpp"
#include "model/names.hpp"
#include "model/policy.hpp"
#include "model/time.hpp"

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace retryd::engine {

struct State;
struct QueueState;

// A breaker, and what belongs to it.
struct Guarded {
    Guarded(std::string its_name, const model::BreakerPolicy& policy, const model::RecoverPolicy* recover,
            model::SteadyTime now);

    std::string name;       // "queue:orders", "payments": in commands, labels and the log
    std::string forced_by;  // the operator; empty: it is as it is by itself
    core::Breaker breaker;
    core::Breaker::Counts opened_by;  // what it last opened for
    std::optional<core::Recovery> recovery;
    std::array<std::uint64_t, model::breaker_state_count> transitions{};  // into each state
};

struct DependencyState {
    DependencyState(const model::DependencyPolicy& policy, model::SteadyTime now);

    Guarded guarded;
    std::optional<core::TokenBucket> rate;
    std::vector<model::SteadyTime> fallback_away;  // until when each of its fallbacks is taken for away
    [[nodiscard]] bool has_token(model::SteadyTime now) const;
    // The first of its fallbacks that is not away.
    [[nodiscard]] std::optional<std::size_t> fallback(model::SteadyTime now) const;
};

// What replies hold against dependencies that the policy does not have: shown as `other`. The consumer's own breaker
// counts them.
struct UnknownDependencies {
    static constexpr std::chrono::seconds window{30};
    explicit UnknownDependencies(model::SteadyTime now) : since(now) {}

    core::Tally<1> failed{window};
    model::SteadyTime since;
    std::string last;  // name that a reply gave, cut
};

struct LoadControl {
    core::LoadSensor sensor;
    core::ConcurrencyController controller;
};

struct QueueGuards {
    QueueGuards(const model::Policy& policy, const model::QueuePolicy& queue, model::SteadyTime now);

    std::optional<Guarded> consumer;      // the queue's own breaker
    std::optional<Guarded> refusals;      // opens when most replies are permanent, or the budget for dead letters is spent
    std::optional<Guarded> last_tries;    // while the budget for parking is spent: what would be parked next comes one by one
    std::uint64_t pausing = 0;            // dependencies of which an open breaker stops the whole queue
    std::optional<core::Tally<2>> calls;  // all, failed: lately
    std::optional<core::Budget> park, dead_letter;
    std::optional<core::TokenBucket> rate;       // of all deliveries
    std::optional<core::TokenBucket> lane_rate;  // of those from the lane, while it is damped
    core::TokenBucket diversions;                // copies of what an open breaker bars
    std::optional<core::StormGuard> storm;
    std::array<std::uint64_t, model::storm_state_count> storm_transitions{};
    core::LaneRates lane_rates;
    std::uint64_t lane_calls = 0;  // so far
    double operator_share = 1;     // of the lane's normal rate
    std::string throttled_by;      // where operator_share is under 1
    model::SteadyTime throttled_at{};
    std::optional<LoadControl> load;
    std::deque<model::DeliveryKey> rationed;  // ready, and waiting for a token of a dependency
    std::optional<model::SteadyTime> paused;  // by an operator, since
    std::string paused_by;
};

// Lets `act` change the breaker, and tells where that changes its state.
void change(State& state, Guarded& guarded, const std::function<void(core::Breaker&)>& act);

// Breakers of which the time has come. Asked in each turn.
void mind_breakers(State& state);
// Each look at the depths: what they say of retries and storms.
void look_for_storms(State& state);
// How fast the lane may be, by the storm guard and the operator.
void set_lane_rate(State& state, QueueState& queue);

// All that there are, by name.
void each_breaker(State& state, const std::function<void(Guarded&)>& visit);

}  // namespace retryd::engine
