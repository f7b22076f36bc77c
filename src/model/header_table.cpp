#include "model/header_table.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <limits>

namespace retryd::model {
namespace {

constexpr std::size_t length_size = 4;

Problem broken(std::string what) {
    return {ProblemCode::bad_syntax, "header table", std::move(what), ""};
}

std::uint64_t big_endian(std::string_view bytes) {
    std::uint64_t value = 0;
    for (const char byte : bytes) value = value << 8 | static_cast<unsigned char>(byte);
    return value;
}

void append_big_endian(std::string& out, std::uint64_t value, std::size_t size) {
    std::array<char, 8> bytes{};
    for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<char>(value >> (8 * (size - 1 - i)) & 0xff);
    out.append(bytes.data(), size);
}

// A table of over 4 GiB cannot come from a broker nor be made of our headers.
void append_length(std::string& out, std::size_t size) {
    if (size > std::numeric_limits<std::uint32_t>::max()) std::abort();
    append_big_endian(out, size, length_size);
}

bool has_length(char type) {
    return type == 'S' || type == 'x' || type == 'A' || type == 'F';
}

// The size of a value whose type fixes it.
std::optional<std::size_t> fixed_size(char type) {
    switch (type) {
        case 'V': return 0;
        case 't':
        case 'b':
        case 'B': return 1;
        case 's':
        case 'u': return 2;
        case 'I':
        case 'i':
        case 'f': return 4;
        case 'D': return 5;
        case 'l':
        case 'L':
        case 'd':
        case 'T': return 8;
        default: return std::nullopt;
    }
}

// Takes a type letter and the value behind it from the front of `rest`.
Result<FieldView> take_field(std::string_view& rest) {
    if (rest.empty()) return broken("a type letter is missing");
    const char type = rest.front();
    rest.remove_prefix(1);

    std::uint64_t size = 0;
    if (const auto fixed = fixed_size(type)) {
        size = *fixed;
    } else if (has_length(type)) {
        if (rest.size() < length_size) return broken("a length is cut off");
        size = length_size + big_endian(rest.substr(0, length_size));
    } else {
        return broken("an unknown type letter");
    }
    if (size > rest.size()) return broken("a value runs past the end");
    const FieldView field{type, rest.substr(0, size)};
    rest.remove_prefix(size);
    return field;
}

}  // namespace

Result<std::vector<HeaderView>> read_table(std::string_view table) {
    constexpr std::size_t usual_size = 24;  // of a header
    std::vector<HeaderView> headers;
    headers.reserve(table.size() / usual_size);
    while (!table.empty()) {
        const std::size_t size = static_cast<unsigned char>(table.front());
        table.remove_prefix(1);
        if (size > table.size()) return broken("a name runs past the end");
        const std::string_view name = table.substr(0, size);
        table.remove_prefix(size);
        const auto field = take_field(table);
        if (!field) return field.error();
        headers.push_back({name, *field});
    }
    return headers;
}

Result<std::vector<FieldView>> read_array(std::string_view array) {
    std::vector<FieldView> values;
    while (!array.empty()) {
        const auto field = take_field(array);
        if (!field) return field.error();
        values.push_back(*field);
    }
    return values;
}

const HeaderView* find_header(const std::vector<HeaderView>& headers, std::string_view name) {
    const auto found =
        std::find_if(headers.begin(), headers.end(), [&](const HeaderView& header) { return header.name == name; });
    return found == headers.end() ? nullptr : &*found;
}

std::optional<std::string_view> content(const FieldView& field) {
    if (!has_length(field.type) || field.bytes.size() < length_size) return std::nullopt;
    return field.bytes.substr(length_size);
}

std::optional<std::int64_t> integer(const FieldView& field) {
    const auto size = fixed_size(field.type);
    if (!size || field.bytes.size() != *size) return std::nullopt;
    const std::uint64_t bits = big_endian(field.bytes);
    switch (field.type) {
        case 'b': return static_cast<std::int8_t>(bits);
        case 's': return static_cast<std::int16_t>(bits);
        case 'I': return static_cast<std::int32_t>(bits);
        case 'l': return static_cast<std::int64_t>(bits);
        case 'B':
        case 'u':
        case 'i': return static_cast<std::int64_t>(bits);
        case 'L':
        case 'T':
            if (bits > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) return std::nullopt;
            return static_cast<std::int64_t>(bits);
        default: return std::nullopt;
    }
}

void TableWriter::name(std::string_view name, char type) {
    if (name.size() > 255) std::abort();
    bytes_ += static_cast<char>(name.size());
    bytes_ += name;
    bytes_ += type;
}

void TableWriter::add(std::string_view header, const FieldView& value) {
    name(header, value.type);
    bytes_ += value.bytes;
}

void TableWriter::add_string(std::string_view header, std::string_view value) {
    name(header, 'S');
    append_length(bytes_, value.size());
    bytes_ += value;
}

void TableWriter::add_bytes(std::string_view header, std::string_view value) {
    name(header, 'x');
    append_length(bytes_, value.size());
    bytes_ += value;
}

void TableWriter::add_long(std::string_view header, std::int64_t value) {
    name(header, 'l');
    append_big_endian(bytes_, static_cast<std::uint64_t>(value), 8);
}

void TableWriter::add_table(std::string_view header, std::string_view table) {
    name(header, 'F');
    append_length(bytes_, table.size());
    bytes_ += table;
}

void TableWriter::add_array(std::string_view header, std::string_view array) {
    name(header, 'A');
    append_length(bytes_, array.size());
    bytes_ += array;
}

void append_table_value(std::string& array, std::string_view table) {
    array += 'F';
    append_length(array, table.size());
    array += table;
}

}  // namespace retryd::model
