#pragma once
// Which keys may stand where. What may not is told and taken out of the tree, so that nothing trips over it again.

#include "policyfile/document.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace retryd::policyfile {

class Faults;

// Answers for a key's path whether it is due later.
using IsLater = bool (*)(std::string_view path);
[[nodiscard]] inline bool none_is_later(std::string_view /*path*/) {
    return false;
}

// Holds `written` against the built-in tree of the same place.
void check_keys(Node& written, const Node& known, Faults& faults, IsLater later = none_is_later);

// "did you mean X" for the closest of `known`, else "known here: …".
[[nodiscard]] std::string closest_key(std::string_view key, const std::vector<std::string>& known);

// For the free mappings inside of values: tells every key that is not in `allowed`.
void check_keys_of(const Node& mapping, const std::vector<std::string>& allowed, const std::string& path, Faults& faults);

}  // namespace retryd::policyfile
