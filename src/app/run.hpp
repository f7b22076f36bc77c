#pragma once
// `retryd run`: wires the rooms together and lives until it is told to stop.

#include <ostream>
#include <span>
#include <string_view>

namespace retryd::app {

// Exit codes: 0 stopped cleanly, 1 policy error, 2 usage, 3 no broker within --wait, 4 refused by the broker with --wait.
[[nodiscard]] int run(std::span<const std::string_view> args, std::ostream& err);

}  // namespace retryd::app
