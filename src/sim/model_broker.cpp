// Links: how a connection comes, goes, and carries.

#include "sim/model_broker.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <utility>

namespace retryd::sim {

namespace {

constexpr model::Microseconds login_least{1'000};
constexpr model::Microseconds login_most{5'000};
constexpr model::Microseconds pulse_interval = std::chrono::seconds{1};
constexpr model::Microseconds close_bound = std::chrono::seconds{5};

// Either link looks up and declares.
bool belongs_on(ports::Link link, const ports::BrokerCommand& command) {
    if (std::holds_alternative<ports::LookUp>(command) || std::holds_alternative<ports::Declare>(command)) return true;
    return std::holds_alternative<ports::PublishCopy>(command) == (link == ports::Link::publish);
}

// What waits behind deliveries that nobody reads.
bool comes_by_consume_link(const ports::BrokerEvent& event) {
    if (const auto* answer = std::get_if<ports::LookedUp>(&event)) return answer->link == ports::Link::consume;
    if (const auto* answer = std::get_if<ports::Declared>(&event)) return answer->link == ports::Link::consume;
    return std::holds_alternative<ports::Delivered>(event) || std::holds_alternative<ports::Subscribed>(event) ||
           std::holds_alternative<ports::Unsubscribed>(event) || std::holds_alternative<ports::SubscriptionLost>(event) ||
           std::holds_alternative<ports::SourceClosed>(event);
}

VirtualTime::Matter matter_of_event(const ports::BrokerEvent& event) {
    const bool chatter = std::holds_alternative<ports::LinkUp>(event) || std::holds_alternative<ports::LookedUp>(event) ||
                         std::holds_alternative<ports::Subscribed>(event) || std::holds_alternative<ports::Unsubscribed>(event);
    return chatter ? VirtualTime::Matter::chatter : VirtualTime::Matter::message;
}

VirtualTime::Matter matter_of_command(const ports::BrokerCommand& command) {
    const bool chatter = std::holds_alternative<ports::LookUp>(command) || std::holds_alternative<ports::Subscribe>(command) ||
                         std::holds_alternative<ports::Unsubscribe>(command) ||
                         std::holds_alternative<ports::SetReading>(command);
    return chatter ? VirtualTime::Matter::chatter : VirtualTime::Matter::message;
}

}  // namespace

ModelBroker::Wire::Wire(VirtualTime& time, Chance& chance, Pipe<Sent>::Arrive at_broker,
                        Pipe<ports::BrokerEvent>::Arrive at_client)
    : commands(time, chance.fork(), matter_of, std::move(at_broker)),
      events(time, chance.fork(), matter_of_event, std::move(at_client)) {}

VirtualTime::Matter ModelBroker::matter_of(const Sent& sent) {
    return sent.command ? matter_of_command(*sent.command) : VirtualTime::Matter::message;
}

ModelBroker::ModelBroker(VirtualTime& time, Chance chance, ports::Inbox& inbox, Watch& watch)
    : time_(time),
      chance_(chance),
      inbox_(inbox),
      watch_(watch),
      store_(time, watch, [this] { deliver_what_is_ready(); }),
      consume_(
          time, chance_, [this](auto& commands) { arrived_at_broker(ports::Link::consume, commands); },
          [this](auto& events) { arrived_at_client(events); }),
      publish_(
          time, chance_, [this](auto& commands) { arrived_at_broker(ports::Link::publish, commands); },
          [this](auto& events) { arrived_at_client(events); }) {}

ModelBroker::~ModelBroker() = default;

void ModelBroker::connect(ports::Link link, std::size_t /*address*/) {
    auto& wire = this->wire(link);
    if (wire.state != Wire::State::down) watch_.wrong("connect on a link that is not down");
    wire.state = Wire::State::connecting;
    const auto log_in = [this, link, life = ++wire.life] { login(link, life); };
    time_.after(chance_.between(login_least, login_most), log_in, VirtualTime::Matter::chatter);
    pulse(link, wire.life);
}

// As the adapter does it: on the client's side of the link, once a second from connect() to the end.
void ModelBroker::pulse(ports::Link link, std::uint64_t life) {
    time_.after(
        pulse_interval,
        [this, link, life] {
            auto& wire = this->wire(link);
            if (life != wire.life || wire.state == Wire::State::down) return;
            std::vector<ports::BrokerEvent> events{ports::LinkPulse{link, !wire.frozen}};
            pulse(link, life);
            inbox_.broker_events(events);
        },
        VirtualTime::Matter::chatter);
}

void ModelBroker::freeze(ports::Link link, bool frozen) {
    auto& wire = this->wire(link);
    wire.frozen = frozen;
    wire.commands.hold(frozen);
    wire.events.hold(frozen);
}

void ModelBroker::login(ports::Link link, std::uint64_t life) {
    auto& wire = this->wire(link);
    if (life != wire.life) return;
    if (!running_) return down(link, false, "connect: connection refused");
    if (refusing_) return down(link, true, "ACCESS_REFUSED - login was refused");
    wire.state = Wire::State::up;
    tell(link, ports::LinkUp{link, "3.10.8", frame_max});
    if (link == ports::Link::publish && blocked_) tell(link, ports::Blocked{"low on memory"});
}

void ModelBroker::disconnect(ports::Link link) {
    if (wire(link).state != Wire::State::down) down(link, false, "disconnected");
}

void ModelBroker::close(ports::Link link) {
    auto& wire = this->wire(link);
    if (wire.state != Wire::State::up) return disconnect(link);
    wire.commands.send({std::nullopt, client_channel_});
    time_.after(close_bound, [this, link, life = wire.life] {
        if (life == this->wire(link).life) down(link, false, "no close-ok within the bound");
    });
}

void ModelBroker::send(ports::Link link, std::vector<ports::BrokerCommand>& commands) {
    for (auto& command : commands) {
        if (!wire(link).known_up) break;
        if (!belongs_on(link, command)) watch_.wrong("a command was sent on the other link");
        if (const auto* settle = std::get_if<ports::Settle>(&command)) watch_settle(*settle);
        wire(link).commands.send({std::move(command), client_channel_});
    }
    commands.clear();
}

void ModelBroker::cut(ports::Link link) {
    if (wire(link).state == Wire::State::up) down(link, false, "connection reset by peer");
}

void ModelBroker::client_gone() {
    for (const auto link : {ports::Link::consume, ports::Link::publish}) {
        forget(link);
        wire(link).events.cut();
    }
    void_unconfirmed();
}

void ModelBroker::run(bool running) {
    running_ = running;
    if (!running) {
        cut(ports::Link::consume);
        cut(ports::Link::publish);
    }
    store_.run(running);
}

void ModelBroker::down(ports::Link link, bool refused, const std::string& why) {
    forget(link);
    if (wire(link).frozen) freeze(link, false);
    wire(link).events.cut();
    tell(link, ports::LinkDown{link, refused, why});
}

// Ends the connection on the broker's side: tags die, what was unacked returns, confirms will not come.
void ModelBroker::forget(ports::Link link) {
    if (link == ports::Link::publish) {
        nacking_.clear();
        stuck_ = false;
    }
    auto& wire = this->wire(link);
    wire.state = Wire::State::down;
    wire.known_up = false;
    ++wire.life;
    wire.commands.cut();
    if (link == ports::Link::publish) {
        client_channel_ = ++broker_channel_;
        return;
    }
    reading_ = true;
    unread_.clear();
    for (auto& [source, channel] : channels_) end_channel(channel);
    channels_.clear();
}

void ModelBroker::arrived_at_broker(ports::Link link, std::vector<Sent>& commands) {
    const auto life = wire(link).life;
    for (auto& sent : commands) {
        if (life != wire(link).life) return;
        perform(link, sent);
    }
    deliver_what_is_ready();
}

void ModelBroker::arrived_at_client(std::vector<ports::BrokerEvent>& events) {
    for (const auto& event : events) {
        if (const auto* up = std::get_if<ports::LinkUp>(&event)) wire(up->link).known_up = true;
        if (std::holds_alternative<ports::PublishChannelClosed>(event)) {
            client_channel_ = broker_channel_;
            void_unconfirmed();
        }
        const auto* down = std::get_if<ports::LinkDown>(&event);
        if (down != nullptr && down->link == ports::Link::publish) void_unconfirmed();
        if (const auto* confirmed = std::get_if<ports::Confirmed>(&event)) {
            const auto copy = unconfirmed_.extract(confirmed->key);
            if (!copy.empty()) watch_.confirmed(*copy.mapped());
        }
    }
    if (!reading_) {
        const auto first = std::stable_partition(events.begin(), events.end(), std::not_fn(comes_by_consume_link));
        std::move(first, events.end(), std::back_inserter(unread_));
        events.erase(first, events.end());
    }
    if (!events.empty()) inbox_.broker_events(events);
}

void ModelBroker::set_reading(bool reading) {
    reading_ = reading;
    if (!reading) return;
    for (auto& event : std::exchange(unread_, {})) tell(ports::Link::consume, std::move(event));
}

void ModelBroker::perform(ports::Link link, Sent& sent) {
    if (!sent.command) {  // connection.close: what was answered before it still arrives
        forget(link);
        return tell(link, ports::LinkDown{link, false, "closed"});
    }
    struct {
        ModelBroker& broker;
        ports::Link link;
        const Sent& sent;
        void operator()(const ports::Subscribe& wish) const { broker.subscribe(wish); }
        void operator()(const ports::Unsubscribe& wish) const { broker.unsubscribe(wish.source); }
        void operator()(const ports::Settle& wish) const { broker.settle(wish); }
        void operator()(const ports::LookUp& wish) const { broker.look_up(link, wish.queue); }
        void operator()(const ports::Declare& wish) const { broker.declare_for_client(link, wish.spec); }
        void operator()(const ports::SetReading& wish) const { broker.set_reading(wish.reading); }
        void operator()(const ports::PublishCopy& copy) const {
            if (sent.channel == broker.broker_channel_) broker.take_copy(copy);
        }
    } const performer{*this, link, sent};
    std::visit(performer, *sent.command);
}

// --- from outside

void ModelBroker::declare(const model::QueueSpec& spec) {
    if (!store_.declare(spec)) watch_.wrong("declared from outside with other arguments: " + spec.name.value);
}

void ModelBroker::publish(const model::QueueName& queue, model::Arrival arrival, model::Message message) {
    auto* target = store_.find(queue);
    if (target == nullptr) return watch_.gone(message, "published from outside to no queue");
    store_.put(*target, std::move(arrival), std::make_shared<const model::Message>(std::move(message)));
    if (running_) deliver_what_is_ready();
}

void ModelBroker::remove(const model::QueueName& queue) {
    for (auto& [source, channel] : channels_) {
        for (const auto& [tag, held] : channel.unacked)
            if (held.queue == queue) watch_.gone(*held.stored.message, "its queue was deleted");
        if (!channel.subscription || channel.subscription->queue != queue) continue;
        channel.subscription.reset();
        tell(ports::Link::consume, ports::SubscriptionLost{source});
    }
    store_.remove(queue);
}

void ModelBroker::forget_consumer(const model::Source& source) {
    const auto at = channels_.find(source);
    if (at != channels_.end()) at->second.subscription.reset();
}

void ModelBroker::refuse_to_create(const model::QueueName& queue, bool refusing) {
    if (refusing) {
        uncreatable_.insert(queue);
    } else {
        uncreatable_.erase(queue);
    }
}

void ModelBroker::serve_nobody(const model::QueueName& queue, bool on) {
    if (on) {
        serving_nobody_.insert(queue);
    } else {
        serving_nobody_.erase(queue);
    }
    deliver_what_is_ready();
}

std::size_t ModelBroker::ready(const model::QueueName& queue) {
    const auto* found = store_.find(queue);
    return found == nullptr ? 0 : found->ready.size();
}

bool ModelBroker::holds_only(const std::set<model::QueueName>& queues) const {
    for (const auto& [name, queue] : store_.queues())
        if (!queues.contains(name) && !(queue.ready.empty() && queue.without_target.empty())) return false;
    return unacked() == 0;
}

bool ModelBroker::is_empty(const model::QueueName& queue) const {
    bool empty = true;
    each_message([&](const model::QueueName& name, const Stored&) { empty = empty && name != queue; });
    return empty;
}

std::size_t ModelBroker::unacked() const {
    std::size_t count = 0;
    for (const auto& [source, channel] : channels_) count += channel.unacked.size();
    return count;
}

std::vector<model::QueueName> ModelBroker::queues() const {
    std::vector<model::QueueName> names;
    for (const auto& [name, queue] : store_.queues()) names.push_back(name);
    return names;
}

bool ModelBroker::link_up(ports::Link link) const {
    return (link == ports::Link::consume ? consume_ : publish_).state == Wire::State::up;
}

bool ModelBroker::copy_under_way() const {
    const auto& sent = publish_.commands.under_way();
    return std::any_of(sent.begin(), sent.end(), [](const auto& one) {
        return one.second.command && std::holds_alternative<ports::PublishCopy>(*one.second.command);
    });
}

void ModelBroker::each_message(const std::function<void(const model::QueueName&, const Stored&)>& visit) const {
    for (const auto& [name, queue] : store_.queues()) {
        for (const auto& [place, stored] : queue.ready) visit(name, stored);
        for (const auto& stored : queue.without_target) visit(name, stored);
    }
    for (const auto& [source, channel] : channels_) {
        for (const auto& [tag, held] : channel.unacked) {
            const auto at = store_.queues().find(held.queue);
            if (at != store_.queues().end() && at->second.life == held.life) visit(held.queue, held.stored);
        }
    }
}

}  // namespace retryd::sim
