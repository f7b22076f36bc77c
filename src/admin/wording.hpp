#pragma once
// Numbers and texts as an operator reads them.

#include "model/time.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace retryd::admin {

[[nodiscard]] std::string span_text(model::Milliseconds span);  // "800 ms", "12 s", "5 min", "3 h", "4 d": rounded down
[[nodiscard]] std::string exact_span_text(
    model::Milliseconds span);                              // "800 ms", "1.5 s", "90 s": as short as it can be said exactly
[[nodiscard]] std::string time_text(model::WallTime time);  // "2026-11-30 03:12:45Z"
[[nodiscard]] std::string count_text(std::uint64_t count);  // "99999", "123k", "4.5M": at most five characters up to 999M
[[nodiscard]] std::string bytes_text(std::uint64_t byte_count);  // "512 B", "1.5 KiB", "256 MiB"
[[nodiscard]] std::string clean(std::string_view text);          // whatever is not shown but obeyed is a '?': one line of text

}  // namespace retryd::admin
