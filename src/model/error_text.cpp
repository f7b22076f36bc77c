// Text from consumers: made fit to keep, and made comparable.

#include "model/header_json.hpp"
#include "model/ledger.hpp"
#include "model/utf8.hpp"

#include <algorithm>

namespace retryd::model {
namespace {

constexpr std::size_t shortest_hex_id = 8;  // letters alone: "deadbeef" is an id, "add" a word

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}
bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
bool is_hex(char c) {
    return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}
bool is_quote(char c) {
    return c == '\'' || c == '"' || c == '`';
}
bool joins_words(char c) {
    return c == '-' || c == '_';
}
bool joins_digits(char c) {
    return c == '.' || c == ':' || c == ',';
}

// The length of the word at `start`: letters, digits, '-' and '_', and what stands between two digits, as in 10.0.0.1 or 16:30.
std::size_t word_length(std::string_view text, std::size_t start) {
    std::size_t end = start;
    while (end < text.size()) {
        const bool between_digits = end > start && joins_digits(text[end]) && is_digit(text[end - 1]) &&
                                    end + 1 < text.size() && is_digit(text[end + 1]);
        if (!is_letter(text[end]) && !is_digit(text[end]) && !joins_words(text[end]) && !between_digits) break;
        ++end;
    }
    return end - start;
}

bool is_number_or_id(std::string_view word) {
    return std::any_of(word.begin(), word.end(), is_digit) ||
           (word.size() >= shortest_hex_id && std::all_of(word.begin(), word.end(), is_hex));
}

// Where the quoted text that starts at `start` ends, with its closing quote; nothing for a lone quote. An apostrophe inside
// a word opens nothing: the caller has stepped over the word as far as it.
std::optional<std::size_t> quoted_length(std::string_view text, std::size_t start) {
    if (!is_quote(text[start])) return std::nullopt;
    if (start > 0 && (is_letter(text[start - 1]) || is_digit(text[start - 1]))) return std::nullopt;
    const std::size_t end = text.find(text[start], start + 1);
    if (end == std::string_view::npos) return std::nullopt;
    return end + 1 - start;
}

// FNV-1a: stable over versions and machines, which std::hash is not.
class StableHash {
public:
    void add(std::string_view text) {
        for (const char c : text) value_ = (value_ ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
    }
    [[nodiscard]] std::uint64_t value() const { return value_; }

private:
    std::uint64_t value_ = 0xcbf29ce484222325U;
};

void add_normalised(StableHash& hash, std::string_view text) {
    for (std::size_t i = 0; i < text.size();) {
        if (const auto quoted = quoted_length(text, i)) {
            hash.add("\"");
            i += *quoted;
        } else if (const std::size_t length = word_length(text, i); length > 0) {
            const std::string_view word = text.substr(i, length);
            hash.add(is_number_or_id(word) ? "#" : word);
            i += length;
        } else {
            hash.add(text.substr(i++, 1));
        }
    }
}

std::string hex(std::uint64_t value) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string text(16, '0');
    for (auto at = text.rbegin(); value != 0; value >>= 4U) *at++ = digits[value & 0xfU];
    return text;
}

}  // namespace

std::string fingerprint(std::string_view error_type, std::string_view error_message) {
    StableHash hash;
    hash.add(error_type);  // a name: the number in http.503 is what it is about
    hash.add("\n");
    add_normalised(hash, error_message);
    return hex(hash.value());
}

std::string cut_text(std::string_view text, std::size_t limit) {
    std::string kept(text.substr(0, std::min(plain_length(text), limit)));
    text.remove_prefix(kept.size());
    while (!text.empty()) {
        const std::size_t length = utf8_character(text);
        const bool shown = length > 0 && !is_control(code_point(text.substr(0, length)));
        const std::string_view character = shown ? text.substr(0, length) : "?";
        if (kept.size() + character.size() > limit) break;
        kept += character;
        text.remove_prefix(std::max<std::size_t>(length, 1));
    }
    return kept;
}

}  // namespace retryd::model
