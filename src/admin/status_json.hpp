#pragma once
// The status as JSON: what `/status` answers and `retryctl` reads back. The keys are the names of the view's members.

#include "model/problem.hpp"
#include "model/status.hpp"

#include <string>
#include <string_view>

namespace retryd::admin {

// One line. Bytes that are not UTF-8 and control characters in names and sentences become '?'.
[[nodiscard]] std::string to_json(const model::StatusView& status);
// Breakers alone, with what a terminal shows of them.
[[nodiscard]] std::string breakers_json(const std::vector<model::BreakerView>& breakers, std::string_view text);
// Fails on text that is not such JSON, and on a cause that this version does not know. Further keys are ignored.
[[nodiscard]] model::Result<model::StatusView> status_from_json(std::string_view text);

}  // namespace retryd::admin
