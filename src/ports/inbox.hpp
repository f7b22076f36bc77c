#pragma once
// Where the adapters put what happened. Called on the main loop only; the implementer (app/, sim/) adds the time and
// hands it to the engine.

#include "model/names.hpp"
#include "model/outcome.hpp"
#include "model/time.hpp"
#include "ports/broker.hpp"

#include <string>
#include <vector>

namespace retryd::ports {

class Inbox {
public:
    virtual ~Inbox() = default;
    // `events` may be taken from; it is cleared by the callee, its capacity kept for reuse.
    virtual void broker_events(std::vector<BrokerEvent>& events) = 0;
    virtual void replied(model::DeliveryKey key, model::Reply&& reply) = 0;
    // `trouble` is empty when somebody answers, else why not ("connect: no such file").
    virtual void probed(model::QueueId queue, const std::string& trouble) = 0;
    // The probe of a standing gate was answered, but not with 2xx.
    virtual void not_ready(model::QueueId, const std::string& /*why*/) {}
    // What only streams have to say:
    // Consumer::credit says something else now.
    virtual void credit_changed(model::QueueId) {}
    // The last one who was there has gone, while nothing was being delivered or probed.
    virtual void consumer_gone(model::QueueId, const std::string& /*why*/) {}
    // The consumer asks for more time: its deadline is now + `more`, cut at the hand limit.
    virtual void extended(model::DeliveryKey, model::Milliseconds /*more*/) {}
};

}  // namespace retryd::ports
