#pragma once
// What keeps retries from becoming the next outage: the queue keys of the guards, and the dependencies of the process.

#include "model/policy.hpp"
#include "policyfile/values.hpp"

#include <optional>
#include <vector>

namespace retryd::policyfile {

// `none` is off; without a burst a second's worth.
void read_rate(const Field& rate, const Field& burst, Values& values, std::optional<model::RatePolicy>& out);
// What a queue's own breaker and a dependency's have in common.
void read_breaker(const Field& breaker, Values& values, model::BreakerPolicy& out);
void read_budgets(const Field& budgets, Values& values, model::BudgetsPolicy& out);
void read_storm(const Field& storm, Values& values, std::optional<model::StormPolicy>& out);
void read_dependencies(const Field& dependencies, Values& values, std::vector<model::DependencyPolicy>& out);
void read_needs(const Field& needs, const std::vector<model::DependencyPolicy>& dependencies, Values& values,
                std::vector<model::Need>& out);

}  // namespace retryd::policyfile
