#pragma once
// Points in time as HTTP headers write them.

#include "model/time.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace retryd::deliver {

// RFC 3339 in UTC with milliseconds: "2026-11-30T16:05:09.120Z". Years before 0 or after 9999 are cut to those.
[[nodiscard]] std::string to_rfc3339(model::WallTime time);

// The three forms of RFC 9110: IMF-fixdate, RFC 850 (years 70..99 are 19xx) and asctime. Nothing for any other text.
[[nodiscard]] std::optional<model::WallTime> parse_http_date(std::string_view text);

}  // namespace retryd::deliver
