#pragma once
// From what came back to what it means. Order of judgement: the policy's rules, then what the consumer states, then the
// default map of HTTP statuses. (problem+json has been folded into the reply's error fields at the door.)

#include "model/outcome.hpp"
#include "model/policy.hpp"
#include "model/properties.hpp"
#include "model/time.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace retryd::core {

struct Judgement {
    model::Outcome outcome = model::Outcome::transient;
    std::optional<model::Milliseconds> retry_after;  // as a span from now, at least 0, not yet capped
    std::optional<model::Milliseconds> delay;        // a rule's own delay
    std::string error_type;                          // for the record; never empty for a failure
    std::string error_message;
    std::string dependency;
    std::string app_version;
};

// Which of the queue's classify rules the message itself satisfies (header, routing_key, type): bit i for rule i.
// Rules that ask nothing of the message are satisfied. Taken once, when the message arrives.
[[nodiscard]] std::uint64_t rules_matching(const model::QueuePolicy& policy, const model::Properties& shown,
                                           std::string_view routing_key);

// `proven`: the consumer has answered 2xx since it became ready; before that a 404 speaks of a wrong path.
[[nodiscard]] Judgement classify(const model::QueuePolicy& policy, std::uint64_t rules, const model::Reply& reply, bool proven,
                                 model::WallTime now);

// The default map: 2xx success; 408, 409, 425, 5xx transient; 429, and 503 with Retry-After, throttled; 3xx, 401, 403, 405,
// 407 endpoint; every other 4xx permanent, 404 only from a proven consumer. Codes outside 200..599 are transient.
[[nodiscard]] model::Outcome default_outcome(std::uint16_t status, bool retry_after, bool proven);

}  // namespace retryd::core
