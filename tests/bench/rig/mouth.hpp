#pragma once
// How messages and replies are put into bytes: what a transport does for each message, without its socket.

#include "model/outcome.hpp"
#include "model/policy.hpp"
#include "ports/consumer.hpp"

#include <cstdint>
#include <memory>
#include <string>

namespace retryd::bench {

class Mouth {
public:
    virtual ~Mouth() = default;
    virtual void say(const ports::Delivery& delivery) = 0;
    // What the consumer answers to it, read from the bytes in which it comes.
    [[nodiscard]] virtual model::Reply hear(bool success) = 0;
};

// `none`: nothing is put into bytes.
enum class Transport : std::uint8_t { none, stream, http };
[[nodiscard]] std::unique_ptr<Mouth> mouth_for(Transport transport, const model::QueuePolicy& queue);

}  // namespace retryd::bench
