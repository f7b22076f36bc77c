#pragma once
// A whole HTTP reply as facts. Pure; nothing is judged here: the map from status to outcome is the core's.

#include "model/outcome.hpp"

#include <cstdint>
#include <string_view>
#include <vector>

namespace retryd::deliver {

struct ReplyField {
    std::string_view name;
    std::string_view value;
};

// What a reply says: Retry-After, Retryd-Outcome, Retryd-Error-Type, Retryd-Error-Message, Retryd-Dependency,
// Retryd-App-Version, and where those are silent the members of an application/problem+json body. What cannot be
// understood is as good as absent, but for an outcome, which is `misstated`.
// `body` is empty where it was too large to be kept.
[[nodiscard]] model::Reply read_reply(std::uint16_t status, const std::vector<ReplyField>& fields, std::string_view body);

}  // namespace retryd::deliver
