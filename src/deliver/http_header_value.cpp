#include "deliver/http_header_value.hpp"

#include "deliver/http_text.hpp"
#include "model/header_json.hpp"

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string_view>

namespace retryd::deliver {
namespace {

std::uint64_t big_endian(std::string_view bytes) {
    std::uint64_t number = 0;
    for (const char byte : bytes) number = number << 8U | static_cast<unsigned char>(byte);
    return number;
}

// JSON has no word for these three.
std::string_view name_of_not_finite(double number) {
    if (std::isnan(number)) return "NaN";
    return number > 0 ? "Infinity" : "-Infinity";
}

// -12345 with scale 2: "-123.45".
std::string decimal_text(std::string_view bytes) {
    const std::size_t scale = static_cast<unsigned char>(bytes.front());
    const std::int64_t value = static_cast<std::int32_t>(big_endian(bytes.substr(1)));
    auto digits = std::to_string(std::abs(value));
    if (digits.size() <= scale) digits.insert(0, scale + 1 - digits.size(), '0');
    if (scale > 0) digits.insert(digits.size() - scale, 1, '.');
    return value < 0 ? "-" + digits : digits;
}

// What reads better as plain text than as JSON; nothing for the rest and for values of the wrong length.
std::optional<std::string> plain_text(const model::FieldView& value) {
    const auto bytes = value.bytes;
    if (value.type == 'T') {
        if (const auto seconds = model::integer(value)) return std::to_string(*seconds);
    }
    if (value.type == 'D' && bytes.size() == 5) return decimal_text(bytes);
    if (value.type == 'f' && bytes.size() == 4) {
        const double number = std::bit_cast<float>(static_cast<std::uint32_t>(big_endian(bytes)));
        if (!std::isfinite(number)) return std::string(name_of_not_finite(number));
    }
    if (value.type == 'd' && bytes.size() == 8) {
        const auto number = std::bit_cast<double>(big_endian(bytes));
        if (!std::isfinite(number)) return std::string(name_of_not_finite(number));
    }
    return std::nullopt;
}

}  // namespace

void append_header_value(std::string& out, const model::FieldView& value) {
    if (value.type == 'S' || value.type == 'x') {
        append_escaped_value(out, model::content(value).value_or(std::string_view{}));
        return;
    }
    if (const auto text = plain_text(value)) {
        out += *text;
        return;
    }
    std::string json;
    model::append_json(json, value);
    append_escaped_value(out, json);
}

}  // namespace retryd::deliver
