#pragma once
// An observer outside of broker, consumer and engine, told what really happened. No model depends on what it does.

#include "model/message.hpp"
#include "model/outcome.hpp"
#include "ports/consumer.hpp"

#include <string_view>

namespace retryd::sim {

class Watch {
public:
    virtual ~Watch() = default;
    virtual void settling(const model::Message&, bool /*ack*/) {}  // the engine sends it, for a living tag
    virtual void acked(const model::Message&) {}                   // it took effect
    virtual void stored_copy(const model::Message&) {}             // a copy is in its queue, not confirmed yet
    virtual void confirmed(const model::Message&) {}               // the confirm has reached the engine
    // From here on a duplicate of it is explained: a tag died with its channel, a confirm went missing, a daemon died.
    virtual void may_repeat(const model::Message&) {}
    virtual void gone(const model::Message&, std::string_view /*why*/) {}  // the broker itself dropped it
    virtual void handed(const ports::Delivery&) {}                         // to the consumer
    virtual void processed(const model::Message&, const model::Reply&) {}  // the consumer is done with it
    virtual void replied(const model::Message&, const model::Reply&) {}    // and the engine is about to know
    virtual void wrong(std::string_view /*what*/) {}                       // somebody broke a protocol
};

}  // namespace retryd::sim
