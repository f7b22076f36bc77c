#pragma once
// The merged values as lines of text: for people, and for the policy's hash.

#include "policyfile/policyfile.hpp"
#include "policyfile/sections.hpp"

#include <string>
#include <vector>

namespace retryd::policyfile {

[[nodiscard]] std::vector<EffectiveValue> process_values(const Sections& sections, const std::string& file);
[[nodiscard]] std::vector<EffectiveValue> queue_values(const QueueSection& queue, const std::string& file);

// 16 hexadecimal digits, the same for the same effective values wherever they are written.
[[nodiscard]] std::string hash_of(const Sections& sections);

}  // namespace retryd::policyfile
