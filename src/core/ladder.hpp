#pragma once
// How long a message waits: the retry ladder with its jitter, the hold ladder with its hops. Arithmetic only.

#include "model/policy.hpp"
#include "model/time.hpp"

#include <cstdint>

namespace retryd::core {

// A number in [0, 1) from 64 random bits.
[[nodiscard]] double unit_interval(std::uint64_t random);

// The delay before delayed retry number `retries` + 1: its rung's, beyond the last rung the last one's.
// The policy's ladder must not be empty.
[[nodiscard]] model::Milliseconds rung_delay(const model::RetryPolicy& retry, std::uint32_t retries);

// One of the rung's spread queues, by chance: jitter against herds without a queue for each random value.
[[nodiscard]] model::Milliseconds pick_tier(const model::RetryPolicy& retry, model::Milliseconds delay, std::uint64_t random);

// A Retry-After of R as it is kept: cut to hold.max_retry_after, then spread over [R, R·(1 + 2j)], never earlier.
[[nodiscard]] model::Milliseconds spread_retry_after(const model::QueuePolicy& policy, model::Milliseconds asked,
                                                     std::uint64_t random);

// The hold queue for a wait with a known end, of which `left` remains of `whole`: the shortest rung not shorter than
// `left` where it overshoots the whole wait by under a fifth, else the longest that is shorter, at least the first.
// So a Retry-After of up to six hours takes at most five hops on the built-in ladder.
[[nodiscard]] model::Milliseconds hold_hop(const model::HoldPolicy& hold, model::Milliseconds left, model::Milliseconds whole);

// The hold queue for a wait without a known end: one rung higher each time, found from the time held so far.
[[nodiscard]] model::Milliseconds hold_climb(const model::HoldPolicy& hold, model::Milliseconds held);

// Exponential growth from `first` to `cap`: first·2^failures.
[[nodiscard]] model::Milliseconds grown(model::Milliseconds first, model::Milliseconds cap, std::uint32_t failures);
// Full jitter (uniform in (0, grown]); the source of the scheme: M. Brooker, "Exponential Backoff And Jitter", 2015.
[[nodiscard]] model::Milliseconds full_jitter(model::Milliseconds grown, std::uint64_t random);
// Half fixed, half by chance: in (grown/2, grown].
[[nodiscard]] model::Milliseconds half_jitter(model::Milliseconds grown, std::uint64_t random);

}  // namespace retryd::core
