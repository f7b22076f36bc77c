#pragma once
// What is in hand: every message taken from the broker and not settled yet, with all that is known of it.

#include "core/decide.hpp"
#include "model/guards.hpp"
#include "model/ledger.hpp"
#include "model/message.hpp"
#include "model/names.hpp"
#include "model/time.hpp"

#include <cstdint>
#include <string>
#include <unordered_map>

namespace retryd::engine {

struct Held {
    enum class State : std::uint8_t {
        ready,        // may go to the consumer; in its queue's list
        waiting,      // in hand until `until`: a quick retry, or back a little early
        at_consumer,  // handed over; `until` is the deadline
        copying,      // its copy is being published
    };

    model::DeliveryKey key;
    model::DeliveryTag tag;
    model::MessagePtr message;
    model::Record record;
    core::Stay stay;
    std::uint64_t rules = 0;  // classify rules that the message itself satisfies
    std::uint64_t needs = 0;  // dependencies: bit i for the one at position i
    State state = State::ready;
    model::SteadyTime arrived;
    model::SteadyTime since;                  // of the state
    model::SteadyTime until;                  // waiting, at_consumer
    bool delivered = false;                   // handed over at least once in this stay
    bool is_probe = false;                    // at the consumer: a breaker asked for it
    std::optional<model::Fallback> fallback;  // at the consumer: at this one instead of the queue's
    bool shares_a_loss = false;               // another delivery of the queue was lost while this one was at the consumer
    bool orphan = false;                      // its tag is dead: the broker will deliver it again
    // copying
    std::string copy_properties;
    bool copy_has_id = true;              // it carries retryd-id, by which a return is matched
    std::optional<model::Reason> reason;  // for a lot; nothing for a tier or the lane
    std::string tier;                     // figures' label: "1", "2" …, "hold"; empty for a lot or the lane

    [[nodiscard]] model::QueueId queue() const { return tag.source.queue; }
    [[nodiscard]] model::Side side() const { return tag.source.side; }
};

// What a message in hand costs: its body; its properties, which are there as they came, as the consumer is shown them, on its
// copy and on the copy's way to the broker; and what surrounds it here and in other rooms.
inline constexpr std::uint64_t properties_kept = 4;
inline constexpr std::uint64_t overhead_of_one = 2048;
[[nodiscard]] inline std::uint64_t cost_of(const model::Message& message) {
    return message.body.size() + properties_kept * message.properties.size() + overhead_of_one;
}

class Hand {
public:
    Held& add(Held&& held);
    void remove(const Held& held);
    [[nodiscard]] Held* find(model::DeliveryKey key);
    [[nodiscard]] std::uint64_t bytes() const { return bytes_; }  // the cost of all
    [[nodiscard]] std::unordered_map<model::DeliveryKey, Held>& all() { return held_; }
    [[nodiscard]] const std::unordered_map<model::DeliveryKey, Held>& all() const { return held_; }

private:
    std::unordered_map<model::DeliveryKey, Held> held_;
    std::uint64_t bytes_ = 0;
};

}  // namespace retryd::engine
