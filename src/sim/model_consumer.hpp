#pragma once
// A consumer application in memory behind ports::Consumer: it answers as a judge says, can go away, and comes back.

#include "ports/consumer.hpp"
#include "ports/inbox.hpp"
#include "sim/chance.hpp"
#include "sim/fates.hpp"
#include "sim/virtual_time.hpp"
#include "sim/watch.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace retryd::sim {

class ModelConsumer final : public ports::Consumer {
public:
    using Judge = std::function<Answer(const ports::Delivery&)>;
    ModelConsumer(VirtualTime& time, Chance chance, ports::Inbox& inbox, Watch& watch, Judge judge);

    // Who takes what is delivered to a fallback; without one it is away.
    void set_fallback(Judge judge) { fallback_ = std::move(judge); }

    void deliver(ports::Delivery&& delivery) override;
    bool abandon(model::DeliveryKey key) override;
    void probe(model::QueueId queue) override;

    // Whoever listens for this queue: what it is working on is lost when it goes.
    void go_away(model::QueueId queue);
    void come_back(model::QueueId queue) { away_.erase(queue); }
    // The daemon died: what is being worked on is finished, and nobody hears of it.
    void client_gone();
    // Its answer to what it is working on, for whoever decides when: with a judge whose answers never come.
    void reply(model::DeliveryKey key, model::Reply reply) { finish(key, std::move(reply)); }
    [[nodiscard]] std::vector<model::DeliveryKey> working() const;

    [[nodiscard]] std::size_t in_flight() const { return working_.size(); }
    [[nodiscard]] std::size_t most_in_flight() const { return most_in_flight_; }
    [[nodiscard]] std::uint64_t probes() const { return probes_; }

private:
    friend struct Portrait;  // tests/sim/portrait
    struct Work {
        model::QueueId queue;
        model::MessagePtr message;
    };
    void reply_after(model::Microseconds wait, model::DeliveryKey key, const model::Reply& reply);
    void finish(model::DeliveryKey key, model::Reply reply);

    VirtualTime& time_;
    Chance chance_;
    ports::Inbox& inbox_;
    Watch& watch_;
    Judge judge_;
    Judge fallback_;
    std::map<model::DeliveryKey, Work> working_;
    std::set<model::QueueId> away_;
    std::uint64_t life_ = 0;  // of the daemon: answers to a dead one are dropped
    std::uint64_t probes_ = 0;
    std::size_t most_in_flight_ = 0;
};

}  // namespace retryd::sim
