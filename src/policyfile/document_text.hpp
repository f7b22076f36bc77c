#pragma once
// What must hold of a policy file's bytes before a YAML parser may see them.

#include <string_view>

namespace retryd::policyfile {

class Faults;

// Size, UTF-8, no control characters (yaml-cpp takes 0x04 for the end of the file). False when a fault was told.
[[nodiscard]] bool check_text(std::string_view text, Faults& faults);

}  // namespace retryd::policyfile
