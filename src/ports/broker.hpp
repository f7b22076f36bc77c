#pragma once
// The broker as the engine sees it: two links that are told what to do and report what happened.
//
// Commands are values, handed over in batches; nothing here blocks. Events come to Inbox::broker_events in the order in
// which they happened on their link. After LinkDown nothing of that link survives: subscriptions, tags, unconfirmed copies
// are gone, and the engine connects again when it likes.
//
// consume link: subscriptions and acks (an alarm does not block it).
// publish link: copies and their confirms, on one channel, mandatory, through the default exchange.
// Either looks up and declares, in the order asked: what copies need on the link that publishes them, so that it does not
// wait behind deliveries that nobody reads for want of memory; the rest on the consume link.

#include "model/message.hpp"
#include "model/names.hpp"
#include "model/policy.hpp"
#include "model/tiers.hpp"

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace retryd::ports {

enum class Link : std::uint8_t { consume, publish };
inline constexpr std::size_t link_count = 2;

// Names one publish: given by the engine, rising, never reused. A copy that is published again has a new one.
struct PublishKey {
    std::uint64_t value = 0;
    auto operator<=>(const PublishKey&) const = default;
};

// --- commands for the consume link
struct Subscribe {  // opens the source's channel where it has none; a unique consumer tag each time
    model::Source source;
    model::QueueName queue;
    std::uint16_t prefetch = 1;
};
struct Unsubscribe {  // basic.cancel; the channel stays, so that what is in hand can still be settled
    model::Source source;
};
struct Settle {  // a tag of a dead generation is dropped in silence
    model::DeliveryTag tag;
    bool ack = true;  // false: nack with requeue, for the end of a drain only
};
struct LookUp {  // passive declare
    model::QueueName queue;
};
struct Declare {
    model::QueueSpec spec;
};
struct SetReading {  // false: stop reading deliveries (the memory limit); heartbeats and acks go on
    bool reading = true;
};
// --- command for the publish link
struct PublishCopy {
    PublishKey key;
    model::QueueName queue;
    std::string id;             // retryd-id, by which a return is matched; may be empty
    std::string properties;     // property bytes, as model::write_copy makes them
    model::MessagePtr message;  // for its body
};
using BrokerCommand = std::variant<Subscribe, Unsubscribe, Settle, LookUp, Declare, SetReading, PublishCopy>;

// --- events of either link
struct LinkUp {
    Link link = Link::consume;
    std::string broker_version;        // "3.10.8"
    std::uint32_t frame_max = 131072;  // negotiated, bytes
};
struct LinkDown {
    Link link = Link::consume;
    bool refused = false;  // the broker answered and said no (credentials, vhost, rights)
    std::string why;       // a sentence without secrets
};
// Once a second from connect() to LinkDown, as far as the main loop runs: is the link's thread alive?
struct LinkPulse {
    Link link = Link::consume;
    bool lives = true;  // since the last pulse it did something, or its socket made progress
    bool busy = false;  // much has passed: what is asked may have to wait behind it
};
// --- events of the consume link
struct Delivered {
    model::DeliveryTag tag;
    model::Arrival arrival;
    model::MessagePtr message;
};
struct Subscribed {  // consume-ok
    model::Source source;
    std::uint32_t generation = 0;  // of the channel
};
struct Unsubscribed {  // cancel-ok: nothing more comes
    model::Source source;
};
struct SubscriptionLost {  // the broker cancelled it (queue deleted, node gone); the channel lives
    model::Source source;
};
struct SourceClosed {  // the source's channel was closed by the broker: its tags are dead
    model::Source source;
    std::uint16_t code = 0;  // AMQP reply code, 404, 403, 405, 406 …
    std::string why;
};
struct LookedUp {
    model::QueueName queue;
    bool found = false;
    std::uint64_t messages = 0;  // ready
    std::uint32_t consumers = 0;
    std::uint16_t code = 0;  // where not found: 404, 403, 405 …
    std::string why;
    Link link = Link::consume;  // that was asked
};
struct Declared {
    model::QueueName queue;
    bool declared = false;
    std::uint16_t code = 0;  // where not: 406 means it exists with other arguments
    std::string why;
    Link link = Link::consume;  // that was asked
};
// --- events of the publish link
struct Confirmed {
    PublishKey key;  // a returned copy is Returned and never Confirmed
};
struct Nacked {
    PublishKey key;
};
struct Returned {
    PublishKey key;
    std::uint16_t code = 0;
    std::string why;
};
struct PublishChannelClosed {  // the channel is opened again by the link; every unconfirmed key is void
    std::uint16_t code = 0;
    std::string why;
};
struct Blocked {
    std::string why;
};
struct Unblocked {};

using BrokerEvent =
    std::variant<LinkUp, LinkDown, LinkPulse, Delivered, Subscribed, Unsubscribed, SubscriptionLost, SourceClosed, LookedUp,
                 Declared, Confirmed, Nacked, Returned, PublishChannelClosed, Blocked, Unblocked>;

class Broker {
public:
    virtual ~Broker() = default;
    // Starts connecting to Policy::broker.addresses[address]; answers with LinkUp or LinkDown. The link must be down.
    virtual void connect(Link link, std::size_t address) = 0;
    // Ends the link whatever it is doing, even stuck in a send. Answers with LinkDown, once; nothing if it is down already.
    virtual void disconnect(Link link) = 0;
    // Ends it politely: everything sent before is flushed, connection.close is exchanged within a bound. Answers LinkDown.
    virtual void close(Link link) = 0;
    // Commands for a link that is not up are dropped: from LinkUp to LinkDown as they were given out, so that no answer comes
    // to a question of a time before. `commands` is left empty with its capacity kept.
    virtual void send(Link link, std::vector<BrokerCommand>& commands) = 0;
};

}  // namespace retryd::ports
