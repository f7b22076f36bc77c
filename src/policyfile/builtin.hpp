#pragma once
// All keys of a policy file with their built-in values: the one list of what may be written, and of what is due later.

#include "policyfile/document.hpp"

#include <string_view>

namespace retryd::policyfile {

// The root mapping, every node of section "built-in". Keys without a built-in value are absent nodes.
// The queue keys stand under `defaults`.
[[nodiscard]] Node built_in_values();
// What one of the dependencies has.
[[nodiscard]] Node built_in_dependency();

// Whether the process-wide key at this path ("broker.management") is not supported yet.
[[nodiscard]] bool process_key_is_later(std::string_view path);

}  // namespace retryd::policyfile
