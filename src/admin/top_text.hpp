#pragma once
// What `retryctl top` shows: the queues as they are, and outcomes a second between two looks.

#include "model/status.hpp"

#include <string>

namespace retryd::admin {

// For a terminal: a headline and a table, at most 100 columns.
[[nodiscard]] std::string top_table(const model::StatusView& before, const model::StatusView& now);
// For anything else: one line for each queue, with the time first.
[[nodiscard]] std::string top_lines(const model::StatusView& before, const model::StatusView& now);

}  // namespace retryd::admin
