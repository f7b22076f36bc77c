#pragma once
// The consumer behind ports::Consumer, over the stream: one server for each queue that has a stream. On the main loop only.
//
// No deadline of a delivery is kept here: the engine abandons what takes too long. A consumer that is destroyed closes its
// sockets and reports nothing more; what the loop still has to finish touches nothing of the inbox.

#include "model/policy.hpp"
#include "model/problem.hpp"
#include "ports/consumer.hpp"
#include "ports/inbox.hpp"
#include "ports/journal.hpp"

#include <boost/asio/io_context.hpp>

#include <memory>
#include <string>
#include <vector>

namespace retryd::deliver {

class StreamServer;

class StreamConsumer final : public ports::Consumer {
public:
    // All four outlive it. Queues without a stream are none of its business: it must not be asked about them.
    StreamConsumer(boost::asio::io_context& io, const model::Policy& policy, ports::Inbox& inbox, ports::Journal& journal);
    ~StreamConsumer() override;
    StreamConsumer(const StreamConsumer&) = delete;
    StreamConsumer& operator=(const StreamConsumer&) = delete;

    // Opens the socket of one queue.
    [[nodiscard]] model::Result<void> listen(model::QueueId queue);

    void deliver(ports::Delivery&& delivery) override;
    bool abandon(model::DeliveryKey key) override;
    void probe(model::QueueId queue) override;
    [[nodiscard]] std::optional<std::uint32_t> credit(model::QueueId queue) const override;
    void drain() override;
    [[nodiscard]] std::string describe(model::QueueId queue) const override;

private:
    std::vector<std::shared_ptr<StreamServer>> servers_;  // by QueueId; null where the queue has no stream
};

}  // namespace retryd::deliver
