#include "model/header_json.hpp"

#include "model/utf8.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>

namespace retryd::model {
namespace {

constexpr int deepest = 64;  // levels of tables and arrays; what lies deeper is shown as bytes

void append_value(std::string& out, const FieldView& value, int depth);

void append_bytes(std::string& out, std::string_view bytes) {
    out += R"({"$bytes":")" + to_base64(bytes) + R"("})";
}

std::uint64_t bits(std::string_view bytes) {
    std::uint64_t value = 0;
    for (const char byte : bytes) value = value << 8 | static_cast<unsigned char>(byte);
    return value;
}

template <class Number>
void append_number(std::string& out, Number value) {
    std::array<char, 32> digits{};
    const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), value);
    out.append(digits.data(), end);
}

// A float that happens to be whole keeps its point, so that it is not taken for an integer.
template <class Float>
void append_float(std::string& out, Float value) {
    if (std::isnan(value)) {
        out += R"({"$double":"NaN"})";
    } else if (std::isinf(value)) {
        out += value > 0 ? R"({"$double":"Infinity"})" : R"({"$double":"-Infinity"})";
    } else {
        const std::size_t start = out.size();
        append_number(out, value);
        if (out.find_first_of(".e", start) == std::string::npos) out += ".0";
    }
}

void append_table(std::string& out, const std::vector<HeaderView>& headers, int depth) {
    out += '{';
    for (const HeaderView& header : headers) {
        if (&header != &headers.front()) out += ',';
        append_json_string(out, header.name);
        out += ':';
        append_value(out, header.value, depth);
    }
    out += '}';
}

// Would a reader take this table for one of our own notations? (A key held twice is one key to a JSON parser.)
bool looks_like_notation(const std::vector<HeaderView>& headers) {
    return !headers.empty() && headers.front().name.starts_with('$') &&
           std::all_of(headers.begin(), headers.end(), [&](const HeaderView& h) { return h.name == headers.front().name; });
}

void append_table(std::string& out, std::string_view bytes, int depth) {
    const auto headers = read_table(bytes);
    if (!headers || depth >= deepest) return append_bytes(out, bytes);
    const bool wrap = looks_like_notation(*headers);
    if (wrap) out += R"({"$table":)";
    append_table(out, *headers, depth + 1);
    if (wrap) out += '}';
}

void append_array(std::string& out, std::string_view bytes, int depth) {
    const auto values = read_array(bytes);
    if (!values || depth >= deepest) return append_bytes(out, bytes);
    out += '[';
    for (const FieldView& value : *values) {
        if (&value != &values->front()) out += ',';
        append_value(out, value, depth + 1);
    }
    out += ']';
}

// Tables, arrays, strings and byte strings.
void append_sized(std::string& out, char type, std::string_view bytes, int depth) {
    if (type == 'F') return append_table(out, bytes, depth);
    if (type == 'A') return append_array(out, bytes, depth);
    if (type == 'S' && is_utf8(bytes)) return append_json_string(out, bytes);
    append_bytes(out, bytes);
}

// A value whose bytes have the size that its type fixes.
void append_fixed(std::string& out, const FieldView& value) {
    const std::string_view bytes = value.bytes;
    const auto number = integer(value);
    if (value.type == 'V' && bytes.empty()) {
        out += "null";
    } else if (value.type == 't' && bytes.size() == 1) {
        out += bytes[0] != 0 ? "true" : "false";
    } else if (value.type == 'f' && bytes.size() == 4) {
        append_float(out, std::bit_cast<float>(static_cast<std::uint32_t>(bits(bytes))));
    } else if (value.type == 'd' && bytes.size() == 8) {
        append_float(out, std::bit_cast<double>(bits(bytes)));
    } else if (value.type == 'D' && bytes.size() == 5) {
        out += R"({"$decimal":[)";
        append_number(out, bits(bytes.substr(0, 1)));
        out += ',';
        append_number(out, static_cast<std::int32_t>(bits(bytes.substr(1))));
        out += "]}";
    } else if (value.type == 'T' && number) {
        out += R"({"$timestamp":)";
        append_number(out, *number);
        out += '}';
    } else if (number) {
        append_number(out, *number);
    } else {
        append_bytes(out, bytes);  // malformed, or a u64 that others read as negative: no number is certain
    }
}

void append_value(std::string& out, const FieldView& value, int depth) {
    if (const auto bytes = content(value)) {
        append_sized(out, value.type, *bytes, depth);
    } else {
        append_fixed(out, value);
    }
}

void append_control(std::string& out, unsigned char character) {
    constexpr std::string_view hex = "0123456789abcdef";
    out += "\\u00";
    out += hex[character >> 4];
    out += hex[character & 0xf];
}

// How many bytes of `text` stand in a JSON string as they are.
std::size_t unescaped_length(std::string_view text) {
    const auto is_plain = [](char c) { return c >= ' ' && c <= '~' && c != '"' && c != '\\'; };
    return static_cast<std::size_t>(std::find_if_not(text.begin(), text.end(), is_plain) - text.begin());
}

}  // namespace

void append_json(std::string& out, const FieldView& value) {
    append_value(out, value, 0);
}

void append_json_string(std::string& out, std::string_view text) {
    constexpr std::string_view replacement = "\xef\xbf\xbd";
    out += '"';
    for (;;) {
        const std::string_view as_it_is = text.substr(0, unescaped_length(text));
        out += as_it_is;
        text.remove_prefix(as_it_is.size());
        if (text.empty()) break;
        const std::size_t length = utf8_character(text);
        const auto first = static_cast<unsigned char>(text.front());
        if (length == 0) {
            out += replacement;
        } else if (first == '"' || first == '\\') {
            out += '\\';
            out += text.front();
        } else if (first < 0x20 || first == 0x7f) {
            append_control(out, first);
        } else {
            out += text.substr(0, length);
        }
        text.remove_prefix(std::max<std::size_t>(length, 1));
    }
    out += '"';
}

bool is_utf8(std::string_view text) {
    for (;;) {
        text.remove_prefix(plain_length(text));
        if (text.empty()) return true;
        const std::size_t length = utf8_character(text);
        if (length == 0) return false;
        text.remove_prefix(length);
    }
}

std::string to_base64(std::string_view bytes) {
    constexpr std::string_view alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string text;
    text.reserve((bytes.size() + 2) / 3 * 4);
    for (; !bytes.empty(); bytes.remove_prefix(std::min<std::size_t>(3, bytes.size()))) {
        const std::string_view group = bytes.substr(0, 3);
        const std::uint64_t value = bits(group) << (8 * (3 - group.size()));
        for (std::size_t i = 0; i < 4; ++i) text += i <= group.size() ? alphabet[value >> (18 - 6 * i) & 0x3f] : '=';
    }
    return text;
}

}  // namespace retryd::model
