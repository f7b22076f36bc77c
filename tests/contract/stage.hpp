#pragma once
// Where the contract's cases play: a broker behind ports::Broker, and what the world outside can do to it.
//
// The cases know nothing else, so they say the same of RabbitMQ (real_stage.cpp) and of the model broker. Where the two
// differ, the model is wrong. A program links the cases with exactly one implementation of make_stage().

#include "model/message.hpp"
#include "model/names.hpp"
#include "model/policy.hpp"
#include "ports/broker.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace retryd::contract {

class Stage {
public:
    virtual ~Stage() = default;

    // Both links are down at first; the one address is 0.
    virtual ports::Broker& broker() = 0;
    // All events so far, of both links. Grows while time passes.
    [[nodiscard]] virtual const std::vector<ports::BrokerEvent>& events() const = 0;
    // Lets time pass until `done`; false: not within half a minute.
    [[nodiscard]] virtual bool run_until(const std::function<bool()>& done) = 0;

    // --- the outside
    // A name that nothing else has; its queue is gone at the end of the stage.
    virtual model::QueueName fresh_name(const std::string& hint) = 0;
    virtual void make_queue(const model::QueueName& queue, model::QueueType type) = 0;  // durable, without arguments
    virtual void delete_queue(const model::QueueName& queue) = 0;
    virtual void put(const model::QueueName& queue, const model::Message& message) = 0;  // through the default exchange
    // Messages that are ready; nothing: no such queue.
    [[nodiscard]] virtual std::optional<std::uint32_t> ready(const model::QueueName& queue) = 0;
};

[[nodiscard]] std::unique_ptr<Stage> make_stage();

}  // namespace retryd::contract
