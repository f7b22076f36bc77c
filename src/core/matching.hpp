#pragma once
// Whether a message, or a text, is what a rule or a need asks for.

#include "model/header_table.hpp"
#include "model/policy.hpp"
#include "model/properties.hpp"

#include <cstdint>
#include <string_view>
#include <vector>

namespace retryd::core {

// No pattern asks for nothing.
[[nodiscard]] bool any_matches(const std::vector<model::Pattern>& patterns, std::string_view text);

// The headers that the message has; none where they cannot be read.
[[nodiscard]] std::vector<model::HeaderView> headers_of(const model::Properties& shown);

[[nodiscard]] bool matches(const model::MessageMatch& wanted, const model::Properties& shown,
                           const std::vector<model::HeaderView>& headers, std::string_view routing_key);

// The dependencies that the message needs: bit i for the one at position i. Taken once, when the message arrives.
[[nodiscard]] std::uint64_t needs_of(const model::QueuePolicy& policy, const model::Properties& shown,
                                     std::string_view routing_key);

}  // namespace retryd::core
