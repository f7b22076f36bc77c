#pragma once
// Commands for one link that are not handed over yet.
//
// A hand-over wakes the link's thread, and the broker does by the batch what it is told by the batch. So acks and copies wait
// a moment for more of their kind, but only while much else is under way: then nobody waits for them.

#include "model/time.hpp"
#include "ports/broker.hpp"

#include <cstddef>
#include <utility>
#include <vector>

namespace retryd::engine {

class Outbox {
public:
    // With every message failing once, 4 ms cost a quarter less processor time than 1 ms, and the retries came no later.
    static constexpr model::Microseconds moment{4000};

    template <class Command>
    void add(Command&& command) {
        commands_.emplace_back(std::forward<Command>(command));
    }
    // An ack or a copy.
    template <class Command>
    void add_patient(Command&& command, model::SteadyTime now) {
        if (patient_++ == 0) due_ = now + moment;
        commands_.emplace_back(std::forward<Command>(command));
    }
    // The copies in it have become void.
    void drop_copies() {
        const auto is_copy = [](const auto& command) { return std::holds_alternative<ports::PublishCopy>(command); };
        patient_ -= std::erase_if(commands_, is_copy);
    }
    void clear() {
        commands_.clear();
        patient_ = 0;
    }

    // `under_way`: messages that are in hand beside those whose acks are in it; copies that are not confirmed, with those in it.
    [[nodiscard]] bool may_wait(std::size_t under_way, model::SteadyTime now) const {
        constexpr std::size_t share = 4;
        return patient_ == commands_.size() && patient_ * share < under_way && now < due_;
    }
    // When what waits is to be handed over at the latest.
    [[nodiscard]] model::SteadyTime next() const { return patient_ == 0 ? model::SteadyTime::max() : due_; }

    void hand_over(ports::Broker& broker, ports::Link link) {
        if (!commands_.empty()) broker.send(link, commands_);
        patient_ = 0;
    }

private:
    std::vector<ports::BrokerCommand> commands_;
    std::size_t patient_ = 0;
    model::SteadyTime due_{};
};

}  // namespace retryd::engine
