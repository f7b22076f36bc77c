#pragma once
// Text from outside, one character at a time.

#include <cstddef>
#include <string_view>

namespace retryd::model {

// The length of the UTF-8 character that `text` begins with, 1..4; 0 where there is none: empty text, a stray or cut-off
// byte, an overlong form, a surrogate, a number above U+10FFFF.
[[nodiscard]] std::size_t utf8_character(std::string_view text);

}  // namespace retryd::model
