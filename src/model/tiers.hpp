#pragma once
// Where waiting messages wait: the delays of a rung's queues, and the queues' names and arguments.

#include "model/names.hpp"
#include "model/policy.hpp"
#include "model/time.hpp"

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace retryd::model {

inline constexpr Milliseconds shortest_delay = std::chrono::milliseconds{50};
inline constexpr Milliseconds longest_delay = std::chrono::hours{24 * 7};
// Nothing stays in our hand longer than this without being at a consumer, and no delivery may take longer.
inline constexpr Milliseconds hand_limit = std::chrono::minutes{10};

// The delays of one rung's queues, rising, whole ms, without repetition: `spread` of them evenly in delay·[1 - j, 1 + j],
// with full jitter at delay/n, 2·delay/n … delay. Never under 50 ms nor over 7 d.
[[nodiscard]] std::vector<Milliseconds> spread_of(Milliseconds delay, const RetryPolicy& retry);

enum class TierKind : std::uint8_t { delay, hold };

// "retryd.orders.delay.800ms", classic ones with the suffix ".classic".
[[nodiscard]] QueueName tier_name(const QueuePolicy& policy, TierKind kind, Milliseconds delay);

// A queue that retryd may declare, with all that its arguments are made from.
struct QueueSpec {
    QueueName name;
    QueueType type = QueueType::quorum;
    std::optional<Milliseconds> ttl;  // tiers only
    QueueName dead_letter_to;         // tiers only: the lane, through the default exchange
    bool operator==(const QueueSpec&) const = default;
};

[[nodiscard]] QueueSpec plain_queue(const QueueName& name, QueueType type);
[[nodiscard]] QueueSpec tier_queue(const QueuePolicy& policy, TierKind kind, Milliseconds delay);

// Every queue that its messages may end in, without repetition.
[[nodiscard]] std::set<QueueName> lots_of(const QueuePolicy& policy);

// How many queues this policy may make beside the work queue: lane, lots, every tier of the ladders.
[[nodiscard]] std::size_t queues_made(const QueuePolicy& policy);

}  // namespace retryd::model
