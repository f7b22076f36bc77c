#pragma once
// The engine between a broker and a consumer that do nothing: what retryd itself does for a message, without sockets, threads and
// a clock, so that it is the same each time. Messages come in batches, as they do from a socket that is drained.
//
//   Rig rig(Transport::stream);
//   rig.succeed(batch);     // so many messages, each answered with success
//   rig.fail_once(batch);   // each answered with a failure, copied to a delay queue, back by the lane, and then successful

#include "engine/engine.hpp"
#include "rig/mouth.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace retryd::bench {

class Rig final : ports::Broker, ports::Consumer, ports::Timer, ports::Journal {
public:
    explicit Rig(Transport transport);
    ~Rig() override;
    Rig(const Rig&) = delete;
    Rig& operator=(const Rig&) = delete;

    void succeed(std::uint32_t batch);
    void fail_once(std::uint32_t batch);

private:
    // Of the engine's ports.
    void connect(ports::Link link, std::size_t address) override;
    void disconnect(ports::Link) override {}
    void close(ports::Link) override {}
    void send(ports::Link link, std::vector<ports::BrokerCommand>& commands) override;
    void deliver(ports::Delivery&& delivery) override;
    bool abandon(model::DeliveryKey) override { return false; }
    void probe(model::QueueId queue) override;
    void arm(model::SteadyTime when) override { armed_ = when; }
    void record(const ports::LogEvent&) override {}
    [[nodiscard]] bool keeps(model::LogLevel level) const override { return level >= model::LogLevel::info; }

    void perform(ports::Link link, ports::BrokerCommand& command);
    void arrive(model::Side side, const model::MessagePtr& message);
    void arrive_fresh(std::uint32_t batch);
    void arrive_copies();
    void answer_all(bool success);
    void tell_the_engine();
    void advance(model::Milliseconds time);
    void must_be_settled(std::uint64_t messages) const;

    model::PolicyPtr policy_;
    std::unique_ptr<Mouth> mouth_;
    std::string body_;
    model::Clock now_;
    model::SteadyTime armed_ = model::SteadyTime::max();
    std::vector<ports::BrokerEvent> events_;       // for the engine
    std::vector<model::DeliveryKey> at_consumer_;  // to be answered
    std::vector<model::DeliveryKey> being_answered_;
    std::vector<engine::Replied> replies_;
    std::vector<ports::PublishCopy> copies_;  // in the delay queues
    std::vector<ports::PublishCopy> coming_back_;
    bool probed_ = false;
    std::uint64_t tags_[2] = {};  // given, by Side
    std::uint64_t messages_ = 0;  // so far
    std::uint64_t settled_ = 0;
    std::unique_ptr<engine::Engine> engine_;
};

}  // namespace retryd::bench
