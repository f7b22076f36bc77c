#pragma once
// Belief against fact: links that no longer do anything, subscriptions that bring nothing, delay queues that let nothing go.
// What is found out here shows in views.cpp, and what can be renewed is renewed.

#include "engine/state.hpp"

#include <string_view>

namespace retryd::engine {

void pulse(State& state, const ports::LinkPulse& pulse);
[[nodiscard]] std::string_view text_of(core::LinkWatch::Silence silence);
[[nodiscard]] std::string_view text_of(core::SubscriptionWatch::Doubt doubt);

// Asks how many messages each source of the queue has, and whether the broker knows who consumes them.
void ask_about_subscriptions(State& state, const QueueState& queue);
void watch_subscription(State& state, const Question& question, const ports::LookedUp& answer);
// After the depth of one of the queue's own queues is known.
void watch_tiers(State& state, model::QueueId queue, const model::QueueName& name);

}  // namespace retryd::engine
