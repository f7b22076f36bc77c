#pragma once
// The status as people read it in a terminal: within 100 columns as long as single words fit, quiet when all is well.

#include "model/status.hpp"

#include <string>

namespace retryd::admin {

[[nodiscard]] std::string to_text(const model::StatusView& status);

}  // namespace retryd::admin
