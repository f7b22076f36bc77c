#pragma once
// The status as JSON: what `/status` answers and `retryctl` reads back. The keys are the names of the view's members.

#include "model/problem.hpp"
#include "model/status.hpp"

#include <string>
#include <string_view>

namespace retryd::admin {

// One line. Bytes that are not UTF-8 and control characters in names and sentences become '?'.
[[nodiscard]] std::string to_json(const model::StatusView& status);
// Fails on text that is not such JSON, and on a cause that this version does not know. Further keys are ignored.
[[nodiscard]] model::Result<model::StatusView> status_from_json(std::string_view text);

}  // namespace retryd::admin
