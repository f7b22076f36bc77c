#pragma once
// The process-wide keys: broker, names, memory, max_body, admin, metrics, log.

#include "model/policy.hpp"
#include "policyfile/sections.hpp"
#include "policyfile/values.hpp"

#include <string>

namespace retryd::policyfile {

// Fills all of `policy` but its queues and its hash. Returns `names.prefix`.
[[nodiscard]] std::string read_process(const Sections& sections, Values& values, model::Policy& policy);

}  // namespace retryd::policyfile
