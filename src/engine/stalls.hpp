#pragma once
// What holds a queue up, each cause with a sentence and since when. In the order of precedence: the first is the queue's state.

#include "engine/state.hpp"
#include "model/status.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace retryd::engine {

// What only a look through the hand tells, for each queue: one pass serves all of them.
struct HandFacts {
    std::uint32_t suspects = 0;
    std::array<std::uint32_t, 2> orphans{};  // by Side: at the consumer, and their acks can't be given any more
    std::uint32_t unroutable = 0;            // copies that can't be placed
    std::string example;                     // of them
    model::SteadyTime unroutable_since = model::SteadyTime::max();
};
[[nodiscard]] std::vector<HandFacts> look_through(const State& state);

[[nodiscard]] std::vector<model::StallView> stalls_of(const State& state, const QueueState& queue, const HandFacts& facts,
                                                      const model::Clock& now);

// The drain has closed the links, and nobody opens them again.
[[nodiscard]] inline bool links_are_closed(const State& state) {
    return state.drain != State::Drain::no && state.drain != State::Drain::finishing;
}

[[nodiscard]] inline std::string name_of(ports::Link link) {
    return link == ports::Link::consume ? "consume" : "publish";
}

}  // namespace retryd::engine
