#pragma once
// What a policy amounts to, in words, and where its numbers are dangerous. For `retryd check`.

#include "model/policy.hpp"

#include <string>
#include <vector>

namespace retryd::policyfile {

// Lines such as "orders, bills: up to 9 attempts (1 first, 2 quick, 6 delayed) …": one for queues of which the same is true.
[[nodiscard]] std::vector<std::string> summary_of(const model::Policy& policy);
[[nodiscard]] std::vector<std::string> dangers_of(const model::Policy& policy);

// The longest that retries can make a message wait, jitter counted in, without the deliveries themselves.
[[nodiscard]] model::Milliseconds longest_wait(const model::RetryPolicy& retry);

}  // namespace retryd::policyfile
