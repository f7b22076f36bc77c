#pragma once
// The spelling of numbers, durations, sizes and shares in a policy file. Strict: what could be read in two ways is refused.
// A Problem says what is wrong ("has no unit") and what would be right; it never repeats the text, which may be a secret.

#include "model/names.hpp"
#include "model/policy.hpp"
#include "model/problem.hpp"
#include "model/time.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace retryd::policyfile {

// 0, 7, 65535: digits only, no leading zero, no sign, no underscore.
[[nodiscard]] model::Result<std::uint64_t> parse_integer(std::string_view text);
// 250ms 30s 5m 2h 1d: a whole number and one unit.
[[nodiscard]] model::Result<model::Milliseconds> parse_duration(std::string_view text);
// 512B 64KiB 256MiB 1GiB.
[[nodiscard]] model::Result<model::ByteCount> parse_size(std::string_view text);
// 20%, whole; over 100% too.
[[nodiscard]] model::Result<model::Ratio> parse_ratio(std::string_view text);
// 2 or 1.5: a factor; digits with at most three behind a point.
[[nodiscard]] model::Result<double> parse_factor(std::string_view text);

// 10/m 100/s 5/h: so many in a unit of time; 0 is none in it.
[[nodiscard]] model::Result<model::Frequency> parse_frequency(std::string_view text);

// "250ms", "1m30s", "2h": as short as it can be said exactly.
[[nodiscard]] std::string to_text(model::Milliseconds duration);
// "64KiB", "1GiB", "1000B".
[[nodiscard]] std::string to_text(model::ByteCount size);
// "10/m".
[[nodiscard]] std::string to_text(model::Frequency frequency);

}  // namespace retryd::policyfile
