#pragma once
// Handing messages to the consumer, and what time does to them while they are in hand.

#include "engine/state.hpp"

namespace retryd::engine {

// How often the hand is looked through for what has been in it too long.
inline constexpr model::Milliseconds sweep_interval = std::chrono::seconds{5};

// Fills the queue's free slots with what is ready.
void serve(State& state, QueueState& queue);
// Deadlines, quick retries, the hand limit, probes: whatever is due.
void serve_clock(State& state, QueueState& queue);
// The consumer asks for more time for a delivery: until now + `more`, cut at the hand limit.
void extend(State& state, model::DeliveryKey key, model::Milliseconds more);
// When serve_clock wants to be called although nothing happened.
[[nodiscard]] model::SteadyTime next_clock(State& state, QueueState& queue);

// How many may be at the consumer at once, before its condition and its credit are looked at.
[[nodiscard]] std::uint32_t concurrency_of(const QueueState& queue);
// Somebody in hand waits for the consumer.
[[nodiscard]] bool has_ready(State& state, QueueState& queue);

}  // namespace retryd::engine
