#pragma once
// Whether two deliveries carry the same message, without keeping either: a hash of all that a consumer can see of it.
//
// Of two messages with equal hashes the second may be acked for what was done with the first, so a collision would lose one.
// It is SHA-256, of which nobody can make one, neither by chance nor on purpose. Hashing is for the moments after a channel
// was lost, not for every message.

#include "model/message.hpp"
#include "model/names.hpp"

#include <array>
#include <optional>

namespace retryd::model {

using ContentHash = std::array<unsigned char, 32>;

// Of the source, properties, headers and body, and of how it reached the work queue (what comes by the lane has that in its
// headers). What the broker itself writes about a stay (x-delivery-count, x-death and its kin) is left out, and so is the order
// of the headers, which it changes when it writes there. Nothing where OpenSSL cannot do it: such a message equals none.
[[nodiscard]] std::optional<ContentHash> content_hash(const Source& source, const Arrival& arrival, const Message& message);

}  // namespace retryd::model
