#pragma once
// Distinct meanings have distinct types, so that swapping two arguments does not compile.

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

namespace retryd::model {

// A name on the broker.
struct QueueName {
    std::string value;
    auto operator<=>(const QueueName&) const = default;
};

// The position of a queue's policy in Policy::queues. Stable for the life of the process.
struct QueueId {
    std::uint32_t value = 0;
    auto operator<=>(const QueueId&) const = default;
};

// The two places that a queue's messages come from.
enum class Side : std::uint8_t { work, lane };

// One consumed queue: the work queue or the return lane of a policy.
struct Source {
    QueueId queue;
    Side side = Side::work;
    auto operator<=>(const Source&) const = default;
};

// Our own name for a message that we hold; never a delivery tag (tags belong to a channel that may be gone).
// Given once, in rising order from 1, never reused.
struct DeliveryKey {
    std::uint64_t value = 0;
    auto operator<=>(const DeliveryKey&) const = default;
};

// The broker's name for a delivery. `generation` counts the channels opened for the source on all links so far:
// a tag of another generation is dead and is dropped where it is used.
struct DeliveryTag {
    Source source;
    std::uint32_t generation = 0;
    std::uint64_t tag = 0;
    auto operator<=>(const DeliveryTag&) const = default;
};

struct ByteCount {
    std::uint64_t value = 0;
    auto operator<=>(const ByteCount&) const = default;
};

}  // namespace retryd::model

template <>
struct std::hash<retryd::model::DeliveryKey> {
    std::size_t operator()(const retryd::model::DeliveryKey& key) const noexcept {
        return std::hash<std::uint64_t>{}(key.value);
    }
};
template <>
struct std::hash<retryd::model::QueueName> {
    std::size_t operator()(const retryd::model::QueueName& name) const noexcept { return std::hash<std::string>{}(name.value); }
};
