#pragma once
// The queues of a model broker and what lies in them: order, time to live, dead-lettering. Knows no links.
//
// Quorum queues dead-letter at least once: what finds no target waits, and its queue is tried again after three minutes.
// Classic queues drop it.

#include "model/message.hpp"
#include "model/names.hpp"
#include "model/tiers.hpp"
#include "sim/virtual_time.hpp"
#include "sim/watch.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <vector>

namespace retryd::sim {

struct Stored {
    std::uint64_t place = 0;  // in its queue; kept when it is given back
    model::Arrival arrival;
    model::MessagePtr message;
    std::uint32_t returns = 0;  // how often it was given back
    std::optional<model::SteadyTime> expires;
};

struct ModelQueue {
    model::QueueSpec spec;
    std::uint64_t life = 0;  // tells a queue from one of the same name that was deleted
    std::map<std::uint64_t, Stored> ready;
    std::vector<Stored> without_target;  // expired, waiting for the dead-letter target
    std::optional<model::SteadyTime> shut_until;
    bool nacks = false;     // a fault: nothing published to it is taken
    bool borrowed = false;  // a fault: somebody else takes each message that comes, and gives it back
};

class Store {
public:
    // `changed` is called when a message has become ready by time alone.
    Store(VirtualTime& time, Watch& watch, std::function<void()> changed);

    // False: it exists with other arguments.
    bool declare(const model::QueueSpec& spec);
    void remove(const model::QueueName& name);  // with all that is in it
    [[nodiscard]] ModelQueue* find(const model::QueueName& name);
    [[nodiscard]] const std::map<model::QueueName, ModelQueue>& queues() const { return queues_; }

    void put(ModelQueue& queue, model::Arrival arrival, model::MessagePtr message);
    [[nodiscard]] std::optional<Stored> take(ModelQueue& queue);
    // Back to its place; gone when the queue of that life is.
    void give_back(const model::QueueName& name, std::uint64_t life, Stored stored);
    // While the broker is down nothing expires.
    void run(bool running);

private:
    void schedule(const ModelQueue& queue, model::SteadyTime when);
    void expire(ModelQueue& queue);
    void dead_letter(ModelQueue& queue, Stored stored);
    void try_again(ModelQueue& queue);
    void hop(const ModelQueue& from, ModelQueue& to, Stored stored);

    VirtualTime& time_;
    Watch& watch_;
    std::function<void()> changed_;
    std::map<model::QueueName, ModelQueue> queues_;
    std::uint64_t lives_ = 0;
    std::uint64_t places_ = 0;
    bool running_ = true;
};

}  // namespace retryd::sim
