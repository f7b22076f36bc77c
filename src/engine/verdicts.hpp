#pragma once
// From the consumer's reply to what becomes of the message.

#include "core/classify.hpp"
#include "core/decide.hpp"
#include "engine/state.hpp"
#include "model/outcome.hpp"

namespace retryd::engine {

// A reply for a delivery at the consumer; one that nobody waits for any more is ignored.
void replied(State& state, model::DeliveryKey key, const model::Reply& reply);
// A connect probe ended; `trouble` is empty when somebody answered.
void probed(State& state, QueueState& queue, const std::string& trouble);
// The standing gate's probe was answered, but not with 2xx.
void not_ready(State& state, QueueState& queue, const std::string& why);
// The last of the consumer's sessions has ended.
void consumer_gone(State& state, QueueState& queue, const std::string& why);
// It is at the consumer and is waited for no longer: its slot is free. The guards are told how it ended, as judged; nothing:
// it was broken off.
void take_back(State& state, QueueState& queue, Held& held, const core::Judgement* judgement = nullptr);
// It is at the consumer for a trial that does not count, for the time is up: its stamp is taken back.
void give_back_trial(State& state, Held& held);
// Its deadline has passed.
void timed_out(State& state, Held& held);

// Performs a verdict that a judgement led to: it enters the record.
void carry_out(State& state, Held& held, const core::Verdict& verdict, const core::Judgement& judgement);
// Performs one that no reply led to (early, expired, too long in hand): the history does not grow.
void carry_out_uncounted(State& state, Held& held, const core::Verdict& verdict);

}  // namespace retryd::engine
