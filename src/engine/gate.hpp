#pragma once
// What the guards let through: asked before each delivery.

#include "engine/state.hpp"

#include <cstdint>
#include <optional>

namespace retryd::engine {

// An open breaker of its consumer, of a dependency that stops it, or an operator keeps the whole queue back.
[[nodiscard]] bool is_shut(const State& state, const QueueState& queue);
// Whether this is one of the breakers that can do so.
[[nodiscard]] bool is_stopped_by(const State& state, const QueueState& queue, const Guarded& guarded);
// How many probes the queue is asked for; nothing where deliveries flow, or none may.
[[nodiscard]] std::optional<std::uint32_t> probes_wanted(const State& state, const QueueState& queue);

// Whether the rates of the queue allow one more delivery now.
[[nodiscard]] bool has_tokens(const State& state, const QueueState& queue);
[[nodiscard]] bool guards_let_lane(const State& state, const QueueState& queue);
// Takes what may not be delivered now from the front of every list: what a breaker bars leaves as a held copy, what lacks a
// token waits beside the others.
void set_aside_barred(State& state, QueueState& queue);

// Whether this one may: not what could not be put aside.
[[nodiscard]] bool may_go(const State& state, const QueueState& queue, const Held& held);

// The rate after an outage is limited until nobody waits any more.
void end_recovery(State& state, QueueState& queue);

// The consumer that takes it while a dependency of it is left alone; nothing: the queue's own.
[[nodiscard]] std::optional<model::Fallback> fallback_of(const State& state, const QueueState& queue, const Held& held);

// It is handed over now: as a probe, where a breaker asks for one.
void began(State& state, QueueState& queue, Held& held);

// When a guard lets something through although nothing happened; SteadyTime::max() for never.
[[nodiscard]] model::SteadyTime next_of_guards(const State& state, const QueueState& queue);

}  // namespace retryd::engine
