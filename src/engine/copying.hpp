#pragma once
// The shell round core::Copies: writes the copies' headers, publishes them, acks the originals once they are confirmed.

#include "core/classify.hpp"
#include "core/decide.hpp"
#include "engine/state.hpp"

namespace retryd::engine {

// `judgement` is what led to it; null where no reply did.
void start_copy(State& state, Held& held, const core::Verdict& verdict, const core::Judgement* judgement);

void confirmed(State& state, ports::PublishKey key);
void nacked(State& state, ports::PublishKey key);
void returned(State& state, ports::PublishKey key, const std::string& why);
void publish_channel_closed(State& state, const std::string& why);
void publish_link_down(State& state);

// Lets the copies go on: declarations, publishes, a link without confirms renewed.
void advance_copies(State& state);

}  // namespace retryd::engine
