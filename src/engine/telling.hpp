#pragma once
// Tells of each decision on a message: an entry among the last ones, and a line of the log for all but success.
// Parks at info, each of them. Retries, holds and drops at info too, but of equal ones (queue, event, fingerprint of the
// error) one in ten seconds, the rest summed up.

#include "core/classify.hpp"
#include "core/decide.hpp"
#include "engine/state.hpp"

namespace retryd::engine {

// `judgement` is what led to it; null where no reply did. `place` is the queue that its copy goes to; empty: none.
void tell(State& state, const Held& held, const core::Verdict& verdict, const core::Judgement* judgement,
          const model::QueueName& place);

// Writes the sum of what was not written, when its time has come. Called at the end of each turn.
void sum_up(State& state);

}  // namespace retryd::engine
