#pragma once
// A model broker by itself, driven through its port as the engine would drive it.

#include "sim/model_broker.hpp"

#include "model/header_table.hpp"
#include "model/properties.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

namespace retryd::sim {

using namespace std::chrono_literals;
using ports::Link;

struct Notes final : Watch {
    std::vector<std::string> mistakes, lost;
    void wrong(std::string_view what) override { mistakes.emplace_back(what); }
    void gone(const model::Message& message, std::string_view) override { lost.push_back(message.body); }
};

struct Rig final : ports::Inbox {
    VirtualTime time;
    Notes notes;
    ModelBroker broker{time, Chance{7}, *this, notes};
    std::vector<ports::BrokerEvent> events;
    std::uint64_t keys = 0;
    const model::Source lane{{0}, model::Side::lane};

    void broker_events(std::vector<ports::BrokerEvent>& batch) override {
        std::move(batch.begin(), batch.end(), std::back_inserter(events));
        batch.clear();
    }
    void replied(model::DeliveryKey, model::Reply&&) override {}
    void probed(model::QueueId, const std::string&) override {}

    Rig() {
        broker.connect(Link::consume, 0);
        broker.connect(Link::publish, 0);
        time.run_for(10ms);
    }
    void tell(Link link, ports::BrokerCommand command) {
        std::vector<ports::BrokerCommand> commands;
        commands.push_back(std::move(command));
        broker.send(link, commands);
    }
    ports::PublishKey copy_to(const std::string& queue, const std::string& body,
                              const model::Properties& properties = persistent()) {
        const ports::PublishKey key{++keys};
        auto message = std::make_shared<model::Message>(model::Message{"", body});
        tell(Link::publish, ports::PublishCopy{key, {queue}, "", model::write_properties(properties), std::move(message)});
        return key;
    }
    static model::Properties persistent() {
        model::Properties properties;
        properties.delivery_mode = 2;
        return properties;
    }
    void put(const std::string& queue, const std::string& body) {
        broker.publish({queue}, {"ex", queue, false}, {model::write_properties(persistent()), body});
    }
    void queue(const std::string& name) { broker.declare(model::plain_queue({name}, model::QueueType::quorum)); }
    void tier(const std::string& name, model::Milliseconds ttl, model::QueueType type = model::QueueType::quorum) {
        broker.declare({{name}, type, ttl, {"lane"}});
    }
    void subscribe(const std::string& name, std::uint16_t prefetch = 100) {
        tell(Link::consume, ports::Subscribe{lane, {name}, prefetch});
        time.run_for(10ms);
    }
    template <class Event>
    std::vector<Event> all() const {
        std::vector<Event> found;
        for (const auto& event : events)
            if (const auto* wanted = std::get_if<Event>(&event)) found.push_back(*wanted);
        return found;
    }
    std::vector<std::string> delivered() const {
        std::vector<std::string> bodies;
        for (const auto& event : all<ports::Delivered>()) bodies.push_back(event.message->body);
        return bodies;
    }
};

using Bodies = std::vector<std::string>;

}  // namespace retryd::sim
