#pragma once
// The shell round the core: owns what is in hand, turns events into core steps and performs the actions.
//
// Protocol: construct, start(), then feed every event with the time at which it is handled; call timer_due() when the
// timer rings. All on one thread. Nothing here blocks, and no port is called back from inside itself.
// After drain() or stop() the engine finishes what it can and closes both links; after stop(), stopped() then turns true.

#include "model/figures.hpp"
#include "model/names.hpp"
#include "model/order.hpp"
#include "model/outcome.hpp"
#include "model/policy.hpp"
#include "model/status.hpp"
#include "model/time.hpp"
#include "ports/broker.hpp"
#include "ports/consumer.hpp"
#include "ports/journal.hpp"
#include "ports/timer.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace retryd::engine {

struct Options {
    std::string host;  // names this daemon in the history of a message
    std::string version;
    std::optional<model::Milliseconds> drain;  // how long a drain may take; nothing: the longest timeout + 2 s
    std::uint64_t seed = 0;                    // of all chance: a run is replayed from it
};

// What the engine calls. All outlive it.
struct Ports {
    ports::Broker& broker;
    ports::Consumer& consumer;
    ports::Timer& timer;
    ports::Journal& journal;
};

struct Replied {
    model::DeliveryKey key;
    model::Reply reply;
};

class Engine {
public:
    Engine(model::PolicyPtr policy, Ports ports, Options options);
    ~Engine();
    Engine(const Engine&) = delete;
    Engine& operator=(const Engine&) = delete;

    void start(const model::Clock& now);
    void broker_events(std::vector<ports::BrokerEvent>& events, const model::Clock& now);  // clears `events`
    void replied(std::vector<Replied>& replies, const model::Clock& now);                  // clears `replies`
    void probed(model::QueueId queue, const std::string& trouble, const model::Clock& now);
    void not_ready(model::QueueId queue, const std::string& why, const model::Clock& now);
    void credit_changed(model::QueueId queue, const model::Clock& now);
    void consumer_gone(model::QueueId queue, const std::string& why, const model::Clock& now);
    void extended(model::DeliveryKey key, model::Milliseconds more, const model::Clock& now);
    void timer_due(const model::Clock& now);
    // Drains for whoever asked, and stays idle until stop(). Said twice it changes nothing.
    void drain(std::string_view who, const model::Clock& now);
    // False: there is no such breaker, or no such queue.
    [[nodiscard]] bool obey(const model::Order& order, std::string_view who, const model::Clock& now);
    // Drains where nobody has asked for it yet, and ends.
    void stop(std::string_view who, const model::Clock& now);

    [[nodiscard]] bool stopped() const;
    // The first login was refused by every address: with `--wait` the process ends with exit code 4.
    [[nodiscard]] bool refused() const;
    [[nodiscard]] bool broker_seen() const;  // both links have been up
    [[nodiscard]] model::StatusView status(const model::Clock& now) const;
    // What is known of the messages of this id.
    [[nodiscard]] model::WhyView why(std::string_view id, const model::Clock& now) const;
    [[nodiscard]] const model::Figures& figures() const;
    [[nodiscard]] std::uint64_t bytes_in_hand() const;  // as they count against `memory`
    // Aborts the process with a sentence when an inner invariant is broken; tests call it after each step.
    void check_invariants() const;

private:
    friend struct Portrait;  // tests/sim/portrait
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

}  // namespace retryd::engine
