#pragma once
// Trials: an accused message is delivered alone, as a copy that is stamped for it (core/suspicion.hpp).

#include "core/classify.hpp"
#include "engine/state.hpp"

namespace retryd::engine {

// How the broker's word about earlier deliveries counts against the message. Not at all for a trial that is our own: we have
// lived on, whatever gave the copy back, a broken link or somebody else who consumes the lane.
[[nodiscard]] core::Standing standing_of(QueueState& queue, const Held& held);

// The queue has nothing at the consumer: sends the stamped copy, which comes back to be delivered alone.
void send_to_trial(State& state, QueueState& queue, Held& held);
// The copy for the last trial is not confirmed yet: it may come again, and so may its original.
[[nodiscard]] bool is_being_stamped(State& state, const QueueState& queue);
// It goes behind the others in the lane instead of into our lists: a second one for a trial, whom the first one's crash
// would be held against; one for a trial that has come back without having been tried, which whoever finds it after a crash
// could not know; or an accused, where the hand has no room for the copy that is awaited.
[[nodiscard]] bool must_step_back(const State& state, const QueueState& queue, const Held& held);
// Trials that cannot be held now: their stamps are taken back, so that no crash meanwhile counts as one.
void put_off_trials(State& state, QueueState& queue);

// What the record says of it.
[[nodiscard]] core::Judgement poisoned(const Held& held, const std::string& last_trouble);

}  // namespace retryd::engine
