#pragma once
// Queues on the broker: which are there, which must be made, which are subscribed to, how deep they are.

#include "engine/state.hpp"

namespace retryd::engine {

// Asks the broker whether a queue is there; what follows depends on the purpose.
void ask(State& state, Question question);
void looked_up(State& state, const ports::LookedUp& answer);
void declared(State& state, const ports::Declared& answer);

// After the publish link came up: the lots of every queue are looked up, and declared where missing.
void ensure_lots(State& state);
// Lets both sources of the queue take their next step.
void advance_sources(State& state, QueueState& queue);

// True once, and from then on: both links have been up, work queues are looked up (found or missing), lanes and lots are there
// or could not be made. Alarms and absences afterwards do not turn it back.
void mind_readiness(State& state);

void subscribed(State& state, model::Source source);
void unsubscribed(State& state, model::Source source);
void subscription_lost(State& state, model::Source source);
void source_closed(State& state, const ports::SourceClosed& closed);

// Asks for the depth of every queue in use, every fifteen seconds.
void ask_for_depths(State& state);

}  // namespace retryd::engine
