#pragma once
// What the tests of the decision have in common.

#include "core/decide.hpp"

#include <chrono>
#include <cstdint>
#include <utility>
#include <vector>

namespace retryd::bench {

inline constexpr model::WallTime noon{std::chrono::hours{500000}};

inline model::QueuePolicy policy_with(std::vector<model::Milliseconds> quick, std::vector<model::Milliseconds> delays) {
    model::QueuePolicy policy;
    policy.retry.quick = std::move(quick);
    policy.retry.delays = std::move(delays);
    policy.retry.max = static_cast<std::uint32_t>(policy.retry.delays.size());
    policy.retry.spread = 1;
    return policy;
}

inline core::Judgement judgement(model::Outcome outcome) {
    core::Judgement made;
    made.outcome = outcome;
    made.error_type = "Test";
    return made;
}

}  // namespace retryd::bench
