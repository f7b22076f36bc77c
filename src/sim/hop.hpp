#pragma once
// What RabbitMQ does to a message's properties on its way: through a TTL hop, and when it delivers it once more.

#include "model/names.hpp"
#include "model/time.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace retryd::sim {

// After it expired in `queue` and was dead-lettered with a routing key: x-death grows, CC and BCC go, expiration goes,
// the table's keys are sorted.
[[nodiscard]] std::string after_hop(const std::string& properties, const model::QueueName& queue, const std::string& exchange,
                                    const std::string& routing_key);

// As a quorum queue delivers what was returned `count` times: with x-delivery-count.
[[nodiscard]] std::string with_delivery_count(const std::string& properties, std::uint32_t count);

// The message's own time to live; nothing where it has none that a broker would take.
[[nodiscard]] std::optional<model::Milliseconds> own_ttl(const std::string& properties);

}  // namespace retryd::sim
