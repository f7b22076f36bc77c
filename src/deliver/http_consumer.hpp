#pragma once
// The consumer behind ports::Consumer, over HTTP/1.1: one pool of connections for each queue, and one for
// each fallback of a dependency. On the main loop only.
//
// No deadline of a delivery is kept here: the engine abandons what takes too long. A consumer that is destroyed closes its
// connections and reports nothing more; what the loop still has to finish touches nothing of it.

#include "model/policy.hpp"
#include "ports/consumer.hpp"
#include "ports/inbox.hpp"

#include <boost/asio/io_context.hpp>

#include <memory>
#include <string>
#include <vector>

namespace retryd::deliver {

class HttpPool;

class HttpConsumer final : public ports::Consumer {
public:
    // All three outlive it.
    HttpConsumer(boost::asio::io_context& io, const model::Policy& policy, ports::Inbox& inbox);
    ~HttpConsumer() override;
    HttpConsumer(const HttpConsumer&) = delete;
    HttpConsumer& operator=(const HttpConsumer&) = delete;

    void deliver(ports::Delivery&& delivery) override;
    bool abandon(model::DeliveryKey key) override;
    void probe(model::QueueId queue) override;
    [[nodiscard]] std::string describe(model::QueueId queue) const override;

private:
    const model::Policy& policy_;
    using PoolPtr = std::shared_ptr<HttpPool>;  // shared for their timers' handlers alone
    struct FallbackPool {
        std::unique_ptr<model::DeliverPolicy> policy;  // of which the pool keeps a reference
        PoolPtr pool;
    };
    std::vector<PoolPtr> pools_;                        // by QueueId
    std::vector<std::vector<FallbackPool>> fallbacks_;  // by position in the policy, and in the dependency's list
};

}  // namespace retryd::deliver
