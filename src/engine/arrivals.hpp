#pragma once
// What the broker delivers, at the door: read, judged for its time and size, and put into the hand; and how it leaves.

#include "engine/state.hpp"

namespace retryd::engine {

void arrived(State& state, ports::Delivered&& delivered);
// Every tag of the source, or of all sources, is dead: what can be forgotten is, the rest is marked as orphaned, and takes
// over its new tag when it comes again.
void orphan(State& state, std::optional<model::Source> source);
// It is done: acks it and lets it go. Of an orphan that is remembered instead, until it comes again.
void settle(State& state, Held& held);
// Lets it go without a word to the broker.
void let_go(State& state, Held& held);
// Puts it into its queue's list; `front` for what has been tried already.
void make_ready(State& state, Held& held, bool front);

}  // namespace retryd::engine
