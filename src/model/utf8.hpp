#pragma once
// Text from outside, one character at a time.

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace retryd::model {

// The length of the UTF-8 character that `text` begins with, 1..4; 0 where there is none: empty text, a stray or cut-off
// byte, an overlong form, a surrogate, a number above U+10FFFF.
[[nodiscard]] std::size_t utf8_character(std::string_view text);

// How many bytes of shown ASCII (space to ~) `text` begins with: most text is nothing else, and need not be looked at further.
[[nodiscard]] std::size_t plain_length(std::string_view text);

// The number of one whole character.
[[nodiscard]] std::uint32_t code_point(std::string_view character);

// Whether a character is not shown but obeyed, by some terminal or reader: a control (C0, DEL, C1), a line or paragraph
// separator, or one that turns the direction of the text round it.
[[nodiscard]] bool is_control(std::uint32_t code_point);

}  // namespace retryd::model
