#pragma once
// Why a message is where it is, in sentences.

#include "model/status.hpp"

#include <string>
#include <vector>

namespace retryd::admin {

// Each a paragraph: what is in hand, where it is now, then the decisions, newest first; or where to look instead.
[[nodiscard]] std::vector<std::string> sentences(const model::WhyView& view);

[[nodiscard]] std::string to_text(const model::WhyView& view);  // lines of at most 100 columns
// {"id", "at_ms", "in_hand": […], "decisions": […], "text"}
[[nodiscard]] std::string to_json(const model::WhyView& view);

}  // namespace retryd::admin
