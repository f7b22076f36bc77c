#pragma once
// A whole retryd in virtual time: the very engine and core, a model broker, a model consumer, and an audit outside.
//
//   World world{policy, seed};
//   world.publish("orders", fails_then_succeeds(2));
//   world.start();
//   world.run_until_settled(1h);
//   world.complaints();  // empty, or sentences that say what does not add up
//
// The same seed gives the same run, to the last step.

#include "engine/engine.hpp"
#include "sim/audit.hpp"
#include "sim/chance.hpp"
#include "sim/fates.hpp"
#include "sim/model_broker.hpp"
#include "sim/model_consumer.hpp"
#include "sim/virtual_time.hpp"

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace retryd::sim {

// A defect put between engine and broker, to see whether it is noticed.
class Tamper {
public:
    virtual ~Tamper() = default;
    virtual void sent(ports::Link, std::vector<ports::BrokerCommand>&) {}
    virtual void heard(std::vector<ports::BrokerEvent>&) {}
};

// What else a published message may have.
struct Extra {
    std::string exchange;
    std::optional<std::string> message_id;
    std::optional<std::string> expiration;
    std::string headers;        // a table's bytes
    std::size_t body_size = 0;  // at least
};

class World final : ports::Inbox, ports::Timer, ports::Journal {
public:
    explicit World(model::PolicyPtr policy, std::uint64_t seed = 1);
    ~World() override;
    World(const World&) = delete;
    World& operator=(const World&) = delete;

    void start();
    void crash();  // kill -9, and a new daemon at once
    void drain();
    [[nodiscard]] bool obey(const model::Order& order, std::string_view who);
    void tamper_with(Tamper& tamper) { tamper_ = &tamper; }

    // To a work queue; gives the message's number.
    std::uint64_t publish(const std::string& queue, Fate fate, const Extra& extra = {});
    // All messages are done or in a lot, and nothing is under way; false: not within `limit`.
    bool run_until_settled(model::Microseconds limit);
    bool run_until(const std::function<bool()>& done, model::Microseconds limit) { return time_.run_until(done, limit); }
    void run_for(model::Microseconds span) { time_.run_for(span); }

    [[nodiscard]] std::vector<std::string> complaints() const { return audit_.complaints(broker_); }
    [[nodiscard]] std::size_t lot(const model::QueueName& name) { return broker_.ready(name); }
    [[nodiscard]] std::uint64_t timer_calls() const { return timer_calls_; }
    [[nodiscard]] const std::deque<std::string>& log() const { return log_; }  // the last lines
    [[nodiscard]] model::StatusView status() const { return engine_->status(time_.now()); }

    VirtualTime& time() { return time_; }
    ModelBroker& broker() { return broker_; }
    ModelConsumer& consumer() { return consumer_; }
    Audit& audit() { return audit_; }
    engine::Engine& engine() { return *engine_; }
    const model::Policy& policy() const { return *policy_; }

private:
    void broker_events(std::vector<ports::BrokerEvent>& events) override;
    void replied(model::DeliveryKey key, model::Reply&& reply) override;
    void probed(model::QueueId queue, const std::string& trouble) override;
    void arm(model::SteadyTime when) override;
    void record(const ports::LogEvent& event) override;
    [[nodiscard]] bool keeps(model::LogLevel) const override { return true; }
    void begin_engine();

    // The broker as the engine has it.
    struct Door final : ports::Broker {
        explicit Door(World& its_world) : world(its_world) {}
        void connect(ports::Link link, std::size_t address) override { world.broker_.connect(link, address); }
        void disconnect(ports::Link link) override { world.broker_.disconnect(link); }
        void close(ports::Link link) override { world.broker_.close(link); }
        void send(ports::Link link, std::vector<ports::BrokerCommand>& commands) override;
        World& world;
    };

    model::PolicyPtr policy_;
    Chance chance_;
    VirtualTime time_;
    Audit audit_;
    ModelBroker broker_;
    ModelConsumer consumer_;
    Door door_{*this};
    Tamper* tamper_ = nullptr;
    std::unique_ptr<engine::Engine> engine_;
    std::uint64_t armed_ = 0;  // the last wish; earlier ones are stale
    std::optional<model::SteadyTime> armed_for_;
    std::uint64_t timer_calls_ = 0;
    model::SteadyTime last_ring_{};
    std::uint32_t rings_ = 0;  // at that time
    std::deque<std::string> log_;
};

}  // namespace retryd::sim
