#pragma once
// The consumer application as the engine sees it. All on the main loop; events are posted, never called from inside
// deliver(), abandon() or probe().

#include "model/guards.hpp"
#include "model/message.hpp"
#include "model/names.hpp"
#include "model/outcome.hpp"
#include "model/time.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace retryd::ports {

// One message on its way to the consumer, with all that it is told about it.
struct Delivery {
    model::DeliveryKey key;
    model::QueueId queue;
    model::MessagePtr message;          // for its body
    std::string shown;                  // property bytes that the consumer is shown (the original's)
    std::string exchange, routing_key;  // the original ones
    std::string idempotency_key;
    std::string last_error;     // empty: none
    std::uint32_t attempt = 1;  // failed attempts + 1
    std::uint32_t max_attempts = 1;
    std::optional<model::WallTime> first_failed;
    model::WallTime deadline;                 // when retryd stops waiting
    bool redelivered = false;                 // delivered before, and nobody knows how that ended
    std::optional<model::Fallback> fallback;  // where it goes instead of the queue's consumer
    std::string fallback_for;                 // the dependency that is left alone; empty: none
};

class Consumer {
public:
    virtual ~Consumer() = default;
    // Sends it; answers with Inbox::replied, once, unless it is abandoned first. The caller keeps to the concurrency.
    virtual void deliver(Delivery&& delivery) = 0;
    // Stops waiting: the connection is not reused, and no reply comes for the key any more. False: nothing can
    // have been sent. An unknown key: false.
    virtual bool abandon(model::DeliveryKey key) = 0;
    // Looks whether somebody is there and, with a standing gate, ready, without sending a message; answers with
    // Inbox::probed or Inbox::not_ready.
    virtual void probe(model::QueueId queue) = 0;
    // How many more deliveries it takes now; nothing where it sets no limit of its own. What changes it is told by
    // Inbox::credit_changed.
    [[nodiscard]] virtual std::optional<std::uint32_t> credit(model::QueueId) const { return std::nullopt; }
    // Where it is, and what it is seen to be: one line for `status`.
    [[nodiscard]] virtual std::string describe(model::QueueId) const { return {}; }
    // Nothing more will be delivered: tells those who want to know. Replies to what is under way still count.
    virtual void drain() {}
};

}  // namespace retryd::ports
