#pragma once
// A broker in memory behind ports::Broker: two links with latencies, channels, confirms, and faults on demand.
//
// It behaves as RabbitMQ was seen to (tests/contract runs the same cases against both). Everything happens in virtual
// time: a command takes effect after a small random latency, an event arrives after another, and each link keeps its
// order. The address "0" is always the one that answers.

#include "ports/broker.hpp"
#include "ports/inbox.hpp"
#include "sim/chance.hpp"
#include "sim/pipe.hpp"
#include "sim/store.hpp"
#include "sim/virtual_time.hpp"
#include "sim/watch.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace retryd::sim {

inline constexpr std::size_t longest_name = 255;
inline constexpr std::uint32_t frame_max = 131072;

class ModelBroker final : public ports::Broker {
public:
    ModelBroker(VirtualTime& time, Chance chance, ports::Inbox& inbox, Watch& watch);
    ~ModelBroker() override;

    void connect(ports::Link link, std::size_t address) override;
    void disconnect(ports::Link link) override;
    void close(ports::Link link) override;
    void send(ports::Link link, std::vector<ports::BrokerCommand>& commands) override;

    // --- what stands outside of the daemon can do
    void declare(const model::QueueSpec& spec);
    void remove(const model::QueueName& queue);  // its subscribers get a cancel
    void publish(const model::QueueName& queue, model::Arrival arrival, model::Message message);
    [[nodiscard]] std::size_t ready(const model::QueueName& queue);
    [[nodiscard]] std::size_t unacked() const;
    [[nodiscard]] std::uint64_t questions() const { return questions_; }  // passive declarations that came
    [[nodiscard]] bool link_up(ports::Link link) const;
    [[nodiscard]] bool channel_open(const model::Source& source) const { return channels_.contains(source); }
    [[nodiscard]] bool copy_under_way() const;  // sent, and not at the broker yet
    [[nodiscard]] bool is_blocked() const { return blocked_; }
    [[nodiscard]] std::vector<model::QueueName> queues() const;
    [[nodiscard]] bool is_empty(const model::QueueName& queue) const;  // nothing ready, waiting or unacked
    // Nothing is unacked, and nothing lies anywhere but in `queues`.
    [[nodiscard]] bool holds_only(const std::set<model::QueueName>& queues) const;
    // Every message that the broker cares for: in a queue, or unacked with its queue still there.
    void each_message(const std::function<void(const model::QueueName&, const Stored&)>& visit) const;

    // --- faults
    void cut(ports::Link link);                                  // both directions at once, what is under way is gone
    void run(bool running);                                      // false: down; nobody connects and nothing expires
    void refuse_logins(bool refusing) { refusing_ = refusing; }  // answers LinkDown with `refused`
    void block_publishing(bool blocked);                         // an alarm: copies wait on the wire
    void limit_body(std::optional<model::ByteCount> most) { max_body_ = most; }  // max_message_size
    void close_source(const model::Source& source, std::uint16_t code,
                      const std::string& why);  // by the broker, as for an ack timeout
    void nack_copies_to(const model::QueueName& queue, bool nacking);
    void nack_copies_on_this_link(const model::QueueName& queue);  // until another one is up
    // A copy for it has no answer, nor has what follows on the same channel.
    void take_leader_of(const model::QueueName& queue, bool gone);
    void lend_from(const model::QueueName& queue, bool lending);  // to a second consumer, who gives everything back
    enum class Mischief : std::uint8_t { swallow_confirm, nack, nack_but_keep, give_back_as_unroutable };
    void next_copy(std::optional<Mischief> mischief) { mischief_ = mischief; }
    void freeze(ports::Link link, bool frozen);  // nothing passes either way, and its thread shows no sign of life
    void refuse_to_create(const model::QueueName& queue, bool refusing);  // what is there already may be declared
    void leave_unanswered(bool on) { silent_ = on; }                      // what is asked on the consume link
    void forget_consumer(const model::Source& source);                    // without a word
    void serve_nobody(const model::QueueName& queue, bool on);            // its messages wait, and none is delivered
    // The daemon died: both connections end, and nobody is told.
    void client_gone();

private:
    friend struct Portrait;  // tests/sim/portrait
    struct Held {            // a message that is out on a channel
        model::QueueName queue;
        std::uint64_t life = 0;
        std::uint64_t subscription = 0;
        Stored stored;
    };
    struct Subscription {
        model::QueueName queue;
        std::uint16_t prefetch = 1;
        std::uint64_t number = 0;  // deliveries count against the subscription that brought them
        std::size_t open = 0;
    };
    struct Channel {
        std::uint32_t generation = 0;
        std::uint64_t last_tag = 0;
        std::map<std::uint64_t, Held> unacked;
        std::optional<Subscription> subscription;
    };
    struct Sent {
        std::optional<ports::BrokerCommand> command;  // nothing: connection.close
        std::uint32_t channel = 0;                    // publish link: the channel it was sent on
    };
    [[nodiscard]] static VirtualTime::Matter matter_of(const Sent& sent);  // set-up, look-ups, subscriptions: chatter
    struct Wire {
        Wire(VirtualTime& time, Chance& chance, Pipe<Sent>::Arrive at_broker, Pipe<ports::BrokerEvent>::Arrive at_client);
        enum class State : std::uint8_t { down, connecting, up } state = State::down;
        bool known_up = false;   // the client has been told
        std::uint64_t life = 0;  // of the connection: what was scheduled for another is stale
        bool frozen = false;
        Pipe<Sent> commands;
        Pipe<ports::BrokerEvent> events;
    };

    Wire& wire(ports::Link link) { return link == ports::Link::consume ? consume_ : publish_; }
    void tell(ports::Link link, ports::BrokerEvent event) { wire(link).events.send(std::move(event)); }
    void down(ports::Link link, bool refused, const std::string& why);
    void forget(ports::Link link);
    void login(ports::Link link, std::uint64_t life);
    void pulse(ports::Link link, std::uint64_t life);
    void arrived_at_broker(ports::Link link, std::vector<Sent>& commands);
    void arrived_at_client(std::vector<ports::BrokerEvent>& events);
    void set_reading(bool reading);
    void perform(ports::Link link, Sent& sent);

    // --- consume link (consume_side.cpp)
    void subscribe(const ports::Subscribe& wish);
    void unsubscribe(const model::Source& source);
    void settle(const ports::Settle& settle);
    void look_up(ports::Link link, const model::QueueName& queue);
    void declare_for_client(ports::Link link, const model::QueueSpec& spec);
    Channel& channel_of(const model::Source& source);
    void end_channel(Channel& channel);
    void take_back(Held held);
    void deliver_what_is_ready();
    void hand_out(const model::Source& source, Channel& channel, ModelQueue& queue);
    void watch_settle(const ports::Settle& settle);

    // --- publish link (publish_side.cpp)
    void take_copy(const ports::PublishCopy& copy);
    [[nodiscard]] std::string refusal_of(const ports::PublishCopy& copy) const;
    void close_publish_channel(const std::string& why);
    model::MessagePtr store_copy(ModelQueue& queue, const ports::PublishCopy& copy);
    void confirm_later(ports::PublishKey key);
    void void_unconfirmed();

    VirtualTime& time_;
    Chance chance_;
    ports::Inbox& inbox_;
    Watch& watch_;
    Store store_;
    Wire consume_;
    Wire publish_;
    bool running_ = true;
    bool refusing_ = false;
    bool blocked_ = false;
    bool reading_ = true;                     // the client's side of SetReading
    std::vector<ports::BrokerEvent> unread_;  // deliveries that came while it was off
    std::optional<model::ByteCount> max_body_;
    std::optional<Mischief> mischief_;
    bool silent_ = false;
    std::set<model::QueueName> serving_nobody_;
    std::set<model::QueueName> uncreatable_;
    std::set<model::QueueName> leaderless_;
    bool stuck_ = false;                  // the publish channel that is up, at a copy for a queue without a leader
    std::set<model::QueueName> nacking_;  // on the publish link that is up

    std::map<model::Source, Channel> channels_;
    std::uint32_t generations_ = 0;  // channels opened on all links so far
    std::uint64_t subscriptions_ = 0;
    std::uint64_t questions_ = 0;
    std::uint32_t client_channel_ = 1;  // publish channel as the client knows it, and as the broker does
    std::uint32_t broker_channel_ = 1;
    std::map<ports::PublishKey, model::MessagePtr> unconfirmed_;
};

}  // namespace retryd::sim
