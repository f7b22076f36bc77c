#pragma once
// `retryd check FILE [--print-effective QUEUE]`: reads a policy file as the daemon would, and says what it amounts to.

#include <iosfwd>
#include <span>
#include <string_view>

namespace retryd::app {

// `args` are the words after `check`. Faults and usage go to `err`, all else to `out`. Returns the exit code:
// 0 good (warnings are good), 1 the file has faults, 2 usage.
[[nodiscard]] int check(std::span<const std::string_view> args, std::ostream& out, std::ostream& err);

}  // namespace retryd::app
