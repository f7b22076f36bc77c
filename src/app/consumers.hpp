#pragma once
// The consumers of all queues behind one port: each queue's policy says whether it is reached over HTTP or over a stream.

#include "deliver/http_consumer.hpp"
#include "deliver/stream_consumer.hpp"
#include "model/policy.hpp"
#include "ports/consumer.hpp"

#include <string>

namespace retryd::app {

class Consumers final : public ports::Consumer {
public:
    // All four outlive it.
    Consumers(boost::asio::io_context& io, const model::Policy& policy, ports::Inbox& inbox, ports::Journal& journal);

    // Opens the socket of a queue that has a stream.
    [[nodiscard]] model::Result<void> listen(model::QueueId queue) { return stream_.listen(queue); }

    void deliver(ports::Delivery&& delivery) override;
    bool abandon(model::DeliveryKey key) override;
    void probe(model::QueueId queue) override;
    [[nodiscard]] std::optional<std::uint32_t> credit(model::QueueId queue) const override;
    void drain() override;
    [[nodiscard]] std::string describe(model::QueueId queue) const override;

private:
    [[nodiscard]] ports::Consumer& of(model::QueueId queue);
    [[nodiscard]] const ports::Consumer& of(model::QueueId queue) const;

    const model::Policy& policy_;
    deliver::HttpConsumer http_;
    deliver::StreamConsumer stream_;
};

}  // namespace retryd::app
