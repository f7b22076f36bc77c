#pragma once
// Where the adapters put what happened. Called on the main loop only; the implementer (app/, sim/) adds the time and
// hands it to the engine.

#include "model/names.hpp"
#include "model/outcome.hpp"
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
};

}  // namespace retryd::ports
