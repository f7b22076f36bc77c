#pragma once
// Poison: a message whose delivery takes the consumer or the daemon down. Nobody sees that happen, so there is only
// evidence, and innocents that were at the consumer beside it have the same.
//
//   trusted ─evidence─▶ suspect ─more─▶ accused ─its turn─▶ on_trial ─no reply, again and again─▶ poison
//
// Evidence: returns to the broker (they may be mere returns) and losses shared with others. Any reply ends the suspicion.
// A trial is delivered alone, as a copy that says so (`retryd-suspect: n`): who finds that copy returned knows that its
// n-th trial ended without a reply, whoever held it.

#include "model/ledger.hpp"
#include "model/policy.hpp"

#include <cstdint>

namespace retryd::core {

enum class Standing : std::uint8_t {
    trusted,
    suspect,   // by returns alone: beside other suspects, in a quarter of the concurrency
    accused,   // waits for its trial
    on_trial,  // the stamped copy, before its trial
    poison,    // all its trials ended without a reply
};

// `returns`: how often the broker says that it was delivered before, from this queue.
[[nodiscard]] Standing standing_of(const model::QueuePolicy& policy, const model::Ledger& ledger, model::Side side,
                                   std::uint32_t returns);

// How many suspects may be at the consumer at once: 1 or more.
[[nodiscard]] std::uint32_t suspects_at_once(std::uint32_t concurrency);

}  // namespace retryd::core
