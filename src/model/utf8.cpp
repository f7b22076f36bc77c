#include "model/utf8.hpp"

#include <algorithm>

namespace retryd::model {
namespace {

unsigned byte_at(std::string_view text, std::size_t i) {
    return static_cast<unsigned char>(text[i]);
}

std::size_t announced_length(unsigned first) {
    if (first < 0x80) return 1;
    if (first >= 0xc2 && first <= 0xdf) return 2;
    if (first >= 0xe0 && first <= 0xef) return 3;
    if (first >= 0xf0 && first <= 0xf4) return 4;
    return 0;
}

// The second byte alone tells overlong forms, surrogates and what lies above U+10FFFF.
bool second_fits(unsigned first, unsigned second) {
    switch (first) {
        case 0xe0: return second >= 0xa0;
        case 0xed: return second <= 0x9f;
        case 0xf0: return second >= 0x90;
        case 0xf4: return second <= 0x8f;
        default: return true;
    }
}

}  // namespace

std::size_t utf8_character(std::string_view text) {
    if (text.empty()) return 0;
    const unsigned first = byte_at(text, 0);
    const std::size_t length = announced_length(first);
    if (length > text.size()) return 0;
    for (std::size_t i = 1; i < length; ++i) {
        if ((byte_at(text, i) & 0xc0) != 0x80) return 0;
    }
    if (length > 1 && !second_fits(first, byte_at(text, 1))) return 0;
    return length;
}

std::size_t plain_length(std::string_view text) {
    const auto is_plain = [](char c) { return c >= ' ' && c <= '~'; };
    return static_cast<std::size_t>(std::find_if_not(text.begin(), text.end(), is_plain) - text.begin());
}

std::uint32_t code_point(std::string_view character) {
    const unsigned first = byte_at(character, 0);
    std::uint32_t number = character.size() == 1 ? first : first & 0x7fU >> character.size();
    for (std::size_t i = 1; i < character.size(); ++i) number = number << 6U | (byte_at(character, i) & 0x3fU);
    return number;
}

bool is_control(std::uint32_t code_point) {
    const auto within = [code_point](std::uint32_t first, std::uint32_t last) {
        return code_point >= first && code_point <= last;
    };
    const bool turns_text = code_point == 0x061c || within(0x200e, 0x200f) || within(0x202a, 0x202e) || within(0x2066, 0x2069);
    return code_point < 0x20 || within(0x7f, 0x9f) || within(0x2028, 0x2029) || turns_text;
}

}  // namespace retryd::model
