#pragma once
// A case's conversation with the broker: says a command, awaits an event.
//
//   Talk talk;                               // both links up
//   talk.say(ports::LookUp{name});
//   CHECK(talk.hear<ports::LookedUp>().found);

#include "contract/stage.hpp"

#include <catch2/catch.hpp>

#include <cstddef>
#include <set>
#include <string>
#include <utility>
#include <variant>

namespace retryd::contract {

using model::QueueName;
using model::QueueType;
using model::Source;
using ports::Link;

inline constexpr Source work{{0}, model::Side::work};
inline constexpr Source lane{{0}, model::Side::lane};

inline model::Message message(std::string body, std::string properties = std::string(2, '\0')) {
    return {std::move(properties), std::move(body)};
}

class Talk {
public:
    Talk() {
        connect(Link::consume);
        connect(Link::publish);
    }

    Stage& stage() { return *stage_; }

    // The next event of this kind that nobody heard yet and that is meant; fails the case where none comes.
    template <class Event, class Meant>
    Event hear(Meant meant) {
        std::size_t at = 0;
        const auto found = [&] {
            for (at = 0; at < stage_->events().size(); ++at) {
                const auto* event = std::get_if<Event>(&stage_->events()[at]);
                if (event != nullptr && !heard_.contains(at) && meant(*event)) return true;
            }
            return false;
        };
        const bool came = stage_->run_until(found);
        REQUIRE(came);
        heard_.insert(at);
        return std::get<Event>(stage_->events()[at]);
    }
    template <class Event>
    Event hear() {
        return hear<Event>([](const Event&) { return true; });
    }
    // Events of this kind that came and that nobody heard.
    template <class Event>
    std::size_t unheard() const {
        std::size_t count = 0;
        for (std::size_t at = 0; at < stage_->events().size(); ++at) {
            count += std::holds_alternative<Event>(stage_->events()[at]) && !heard_.contains(at) ? 1U : 0U;
        }
        return count;
    }

    void say(ports::BrokerCommand command) {
        const bool copy = std::holds_alternative<ports::PublishCopy>(command);
        commands_.push_back(std::move(command));
        stage_->broker().send(copy ? Link::publish : Link::consume, commands_);
        CHECK(commands_.empty());
    }
    void say_all(Link link, std::vector<ports::BrokerCommand> commands) { stage_->broker().send(link, commands); }

    ports::LinkUp connect(Link link) {
        stage_->broker().connect(link, 0);
        return hear<ports::LinkUp>([link](const ports::LinkUp& up) { return up.link == link; });
    }
    ports::LinkDown hear_down(Link link) {
        return hear<ports::LinkDown>([link](const ports::LinkDown& down) { return down.link == link; });
    }

    QueueName make_queue(const std::string& hint, QueueType type = QueueType::quorum) {
        QueueName name = stage_->fresh_name(hint);
        stage_->make_queue(name, type);
        return name;
    }
    std::uint32_t subscribe(const Source& source, const QueueName& queue, std::uint16_t prefetch = 10) {
        say(ports::Subscribe{source, queue, prefetch});
        return hear<ports::Subscribed>([&](const ports::Subscribed& it) { return it.source == source; }).generation;
    }
    ports::PublishKey publish(const QueueName& queue, model::Message copy, std::string id = {}) {
        const ports::PublishKey key{++last_key_};
        std::string properties = copy.properties;
        auto shared = std::make_shared<const model::Message>(std::move(copy));
        say(ports::PublishCopy{key, queue, std::move(id), std::move(properties), std::move(shared)});
        return key;
    }
    void hear_confirm(ports::PublishKey key) {
        (void)hear<ports::Confirmed>([key](const ports::Confirmed& it) { return it.key == key; });
    }
    ports::Returned hear_return(ports::PublishKey key) {
        return hear<ports::Returned>([key](const ports::Returned& it) { return it.key == key; });
    }
    bool becomes_ready(const QueueName& queue, std::uint32_t count) {
        return stage_->run_until([&] { return stage_->ready(queue) == count; });
    }
    // Asks something on the link and waits for the answer: whatever was on its way before has come by then.
    void settle_down() {
        const QueueName nobody = stage_->fresh_name("nobody");
        say(ports::LookUp{nobody});
        (void)hear<ports::LookedUp>([&](const ports::LookedUp& it) { return it.queue == nobody; });
        const ports::PublishKey key = publish(nobody, message(""));
        (void)hear_return(key);
    }

private:
    std::unique_ptr<Stage> stage_ = make_stage();
    std::set<std::size_t> heard_;
    std::vector<ports::BrokerCommand> commands_;
    std::uint64_t last_key_ = 0;
};

}  // namespace retryd::contract
