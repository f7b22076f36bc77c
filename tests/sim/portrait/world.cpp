// The portrait of what is outside of the engine.

#include "sim/portrait/portrait.hpp"

#include "model/ledger.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <type_traits>
#include <variant>

namespace retryd::sim {

namespace {

constexpr char opening = '\1';
constexpr char closing = '\2';

std::string short_name(const model::QueueName& queue) {
    return queue.value.substr(queue.value.rfind("orders"));
}

void draw_stored(Canvas& canvas, const Stored& stored, bool from_work) {
    canvas.name(Kind::place, stored.place);
    canvas.flag(stored.arrival.redelivered);
    canvas.number(stored.returns);
    canvas.message(*stored.message, from_work);
}

struct DrawCommand {
    Canvas& canvas;
    void operator()(const ports::Subscribe& it) const {
        canvas.add("subscribe");
        canvas.source(it.source);
        canvas.number(it.prefetch);
    }
    void operator()(const ports::Unsubscribe& it) const {
        canvas.add("unsubscribe");
        canvas.source(it.source);
    }
    void operator()(const ports::Settle& it) const {
        canvas.add(it.ack ? "ack" : "nack");
        canvas.tag(it.tag);
    }
    void operator()(const ports::LookUp& it) const { canvas.add("look-up " + short_name(it.queue)); }
    void operator()(const ports::Declare& it) const { canvas.add("declare " + short_name(it.spec.name)); }
    void operator()(const ports::SetReading& it) const { canvas.add(it.reading ? "read" : "stop-reading"); }
    void operator()(const ports::PublishCopy& it) const {
        canvas.add("publish " + short_name(it.queue));
        canvas.name(Kind::publish, it.key.value);
        canvas.message({it.properties, it.message->body}, false);
    }
};

struct DrawEvent {
    Canvas& canvas;
    void operator()(const ports::LinkUp&) const { canvas.add("up"); }
    void operator()(const ports::LinkDown&) const { canvas.add("down"); }
    void operator()(const ports::LinkPulse&) const { canvas.add("pulse"); }
    void operator()(const ports::Delivered& it) const {
        canvas.add("delivered");
        canvas.tag(it.tag);
        canvas.flag(it.arrival.redelivered);
        canvas.message(*it.message, it.tag.source.side == model::Side::work);
    }
    void operator()(const ports::Subscribed& it) const { of_source("subscribed", it.source); }
    void operator()(const ports::Unsubscribed& it) const { of_source("unsubscribed", it.source); }
    void operator()(const ports::SubscriptionLost& it) const { of_source("lost", it.source); }
    void operator()(const ports::SourceClosed& it) const { of_source("closed", it.source); }
    void operator()(const ports::LookedUp& it) const { canvas.add((it.found ? "found " : "missing ") + short_name(it.queue)); }
    void operator()(const ports::Declared& it) const {
        canvas.add((it.declared ? "declared " : "refused ") + short_name(it.queue));
    }
    void operator()(const ports::Confirmed& it) const { of_copy("confirmed", it.key); }
    void operator()(const ports::Nacked& it) const { of_copy("nacked", it.key); }
    void operator()(const ports::Returned& it) const { of_copy("returned", it.key); }
    void operator()(const ports::PublishChannelClosed&) const { canvas.add("channel-closed"); }
    void operator()(const ports::Blocked&) const { canvas.add("blocked"); }
    void operator()(const ports::Unblocked&) const { canvas.add("unblocked"); }

private:
    void of_source(std::string_view what, const model::Source& source) const {
        canvas.add(what);
        canvas.source(source);
    }
    void of_copy(std::string_view what, ports::PublishKey key) const {
        canvas.add(what);
        canvas.name(Kind::publish, key.value);
    }
};

}  // namespace

void Canvas::name(Kind kind, std::uint64_t value) {
    text_ += opening;
    text_ += static_cast<char>(kind);
    text_ += std::to_string(value);
    text_ += closing;
    text_ += ' ';
}

void Canvas::source(const model::Source& source) {
    add(source.side == model::Side::work ? "work" : "lane");
}

void Canvas::tag(const model::DeliveryTag& tag) {
    source(tag.source);
    name(Kind::generation, tag.generation);
    name(Kind::tag, tag.tag);
}

void Canvas::ledger(const model::Ledger& ledger) {
    for (const auto count : {ledger.attempts, ledger.retries, ledger.lost, ledger.suspect ? *ledger.suspect + 1 : 0})
        number(count);
    flag(ledger.not_before.has_value());
}

void Canvas::message(const model::Message& message, bool from_work) {
    add("m" + std::to_string(number_of(message)));
    const auto record = model::read_record(message, {}, from_work ? model::Side::work : model::Side::lane, {});
    if (record) ledger(record->ledger);
}

std::string Canvas::finished() const {
    std::map<char, std::map<std::uint64_t, std::size_t>> ranks;
    const auto each_name = [this](auto use) {
        for (std::size_t at = 0; (at = text_.find(opening, at)) != std::string::npos; ++at)
            use(at, text_[at + 1], std::stoull(text_.substr(at + 2)));
    };
    each_name([&](std::size_t, char kind, std::uint64_t value) { ranks[kind][value] = 0; });
    for (auto& [kind, values] : ranks) {
        std::size_t rank = 0;
        for (auto& [value, its_rank] : values) its_rank = ++rank;
    }
    std::string out;
    std::size_t done = 0;
    each_name([&](std::size_t at, char kind, std::uint64_t value) {
        out.append(text_, done, at - done) += kind;
        out += std::to_string(ranks[kind][value]);
        done = text_.find(closing, at) + 1;
    });
    return out.append(text_, done, std::string::npos);
}

void Portrait::draw_store(Canvas& canvas, const ModelBroker& broker) {
    for (const auto& [name, queue] : broker.store_.queues()) {
        canvas.section(short_name(name));
        canvas.name(Kind::queue_life, queue.life);
        canvas.flag(queue.shut_until.has_value());
        canvas.flag(queue.borrowed);
        const bool from_work = name.value == "orders";
        for (const auto& [place, stored] : queue.ready) draw_stored(canvas, stored, from_work);
        canvas.add("|");
        for (const auto& stored : queue.without_target) draw_stored(canvas, stored, from_work);
    }
}

void Portrait::draw_channels(Canvas& canvas, const ModelBroker& broker) {
    for (const auto& [source, channel] : broker.channels_) {
        canvas.section("channel");
        canvas.source(source);
        canvas.name(Kind::generation, channel.generation);
        if (channel.subscription) {
            canvas.name(Kind::subscription, channel.subscription->number);
            canvas.number(channel.subscription->prefetch);
        }
        for (const auto& [tag, held] : channel.unacked) {
            canvas.name(Kind::tag, tag);
            canvas.name(Kind::queue_life, held.life);
            canvas.name(Kind::subscription, held.subscription);
            draw_stored(canvas, held.stored, source.side == model::Side::work);
        }
    }
}

void Portrait::draw_wire(Canvas& canvas, const ModelBroker::Wire& wire) {
    canvas.section("wire");
    canvas.number(static_cast<std::uint64_t>(wire.state));
    canvas.flag(wire.known_up);
    model::SteadyTime last{};
    const auto together = [&](model::SteadyTime when) { return std::exchange(last, when) == when; };
    for (const auto& [when, sent] : wire.commands.under_way()) {
        canvas.add(together(when) ? "," : ";");
        canvas.name(Kind::channel, sent.channel);
        if (sent.command) std::visit(DrawCommand{canvas}, *sent.command);
    }
    canvas.add("|");
    for (const auto& [when, event] : wire.events.under_way()) {
        canvas.add(together(when) ? "," : ";");
        std::visit(DrawEvent{canvas}, event);
    }
}

void Portrait::draw(Canvas& canvas, const ModelBroker& broker) {
    draw_store(canvas, broker);
    draw_channels(canvas, broker);
    draw_wire(canvas, broker.consume_);
    draw_wire(canvas, broker.publish_);
    canvas.section("broker");
    for (const bool fact : {broker.running_, broker.blocked_, broker.reading_}) canvas.flag(fact);
    canvas.number(broker.mischief_ ? 1 + static_cast<std::uint64_t>(*broker.mischief_) : 0);
    canvas.name(Kind::channel, broker.client_channel_);
    canvas.name(Kind::channel, broker.broker_channel_);
    for (const auto& [key, message] : broker.unconfirmed_) canvas.name(Kind::publish, key.value);
}

void Portrait::draw(Canvas& canvas, const ModelConsumer& consumer) {
    canvas.section("consumer");
    for (const auto& [key, work] : consumer.working_) canvas.name(key);
}

void Portrait::draw(Canvas& canvas, const Audit& audit) {
    canvas.section("audit");
    for (const auto& life : audit.lives_) {
        canvas.number(std::min(life.successes, 2U));
        canvas.number(life.paid - life.acks);
        canvas.number(life.spent_least);
        canvas.number(life.spent_most);
        canvas.flag(life.may_repeat);
    }
}

std::string portrait(World& world) {
    Canvas canvas;
    Portrait::draw(canvas, world.broker());
    Portrait::draw(canvas, world.consumer());
    Portrait::draw(canvas, world.audit());
    engine::Portrait::draw(canvas, world.engine());
    return canvas.finished();
}

}  // namespace retryd::sim
