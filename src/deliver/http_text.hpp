#pragma once
// The characters of HTTP: what a name and a value may hold, and how the rest is written.

#include <string>
#include <string_view>

namespace retryd::deliver {

[[nodiscard]] bool is_token_char(char c);
// Not empty, printable ASCII without space at either end: fit to stand in a header unchanged.
[[nodiscard]] bool is_plain_value(std::string_view text);
[[nodiscard]] bool equal_ignoring_case(std::string_view a, std::string_view b);
[[nodiscard]] std::string lower_case(std::string_view text);
[[nodiscard]] std::string_view trimmed(std::string_view text);  // of spaces and tabs

// %XX for every non-token byte and `%`.
void append_escaped_name(std::string& out, std::string_view text);
// %XX for bytes below 0x20 and above 0x7E, `%`, leading and trailing space.
void append_escaped_value(std::string& out, std::string_view text);

}  // namespace retryd::deliver
