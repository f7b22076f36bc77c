#include "deliver/http_text.hpp"

#include <algorithm>

namespace retryd::deliver {
namespace {

constexpr std::string_view token_punctuation = "!#$%&'*+-.^_`|~";

char lower(char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool is_printable(char c) {
    return c >= 0x20 && c <= 0x7e;
}

void append_escaped_byte(std::string& out, char c) {
    constexpr std::string_view digits = "0123456789ABCDEF";
    const auto byte = static_cast<unsigned char>(c);
    out += '%';
    out += digits[byte >> 4U];
    out += digits[byte & 0xfU];
}

}  // namespace

bool is_token_char(char c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
           token_punctuation.find(c) != std::string_view::npos;
}

bool is_plain_value(std::string_view text) {
    return !text.empty() && text.front() != ' ' && text.back() != ' ' && std::all_of(text.begin(), text.end(), is_printable);
}

bool equal_ignoring_case(std::string_view a, std::string_view b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) { return lower(x) == lower(y); });
}

std::string lower_case(std::string_view text) {
    std::string lowered(text);
    std::transform(lowered.begin(), lowered.end(), lowered.begin(), lower);
    return lowered;
}

std::string_view trimmed(std::string_view text) {
    const auto first = text.find_first_not_of(" \t");
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

void append_escaped_name(std::string& out, std::string_view text) {
    for (const char c : text) {
        if (is_token_char(c) && c != '%') {
            out += c;
        } else {
            append_escaped_byte(out, c);
        }
    }
}

void append_escaped_value(std::string& out, std::string_view text) {
    const auto first = text.find_first_not_of(' ');
    const auto last = text.find_last_not_of(' ');
    for (std::size_t i = 0; i < text.size(); ++i) {
        const bool outer_space = first == std::string_view::npos || i < first || i > last;
        if (is_printable(text[i]) && text[i] != '%' && !outer_space) {
            out += text[i];
        } else {
            append_escaped_byte(out, text[i]);
        }
    }
}

}  // namespace retryd::deliver
