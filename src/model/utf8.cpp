#include "model/utf8.hpp"

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

}  // namespace retryd::model
