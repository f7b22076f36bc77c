#include "policyfile/scalars.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace retryd::policyfile {

using model::ByteCount;
using model::Frequency;
using model::Milliseconds;
using model::Problem;
using model::ProblemCode;
using model::Ratio;
using model::Result;
using namespace std::chrono_literals;

namespace {

constexpr std::string_view duration_rule = "a duration is a whole number and one unit: 250ms, 30s, 5m, 2h or 1d";
constexpr std::string_view size_rule = "a size is a whole number and one unit: 512B, 64KiB, 256MiB or 1GiB";
constexpr std::string_view frequency_rule = "a rate is a whole number, a slash and a unit of time: 100/s, 10/m or 5/h";
constexpr std::uint64_t most_at_once = 1'000'000'000;
constexpr std::string_view ratio_rule = "a share is a whole number of percent: 20%";

Problem wrong(std::string what, std::string_view hint) {
    return {ProblemCode::bad_value, {}, std::move(what), std::string(hint)};
}

std::string_view leading_digits(std::string_view text) {
    const auto end = std::find_if_not(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
    return text.substr(0, static_cast<std::size_t>(end - text.begin()));
}

// Says what keeps `text` from being a number and a unit.
std::string trouble(std::string_view text, std::string_view digits, std::string_view unit) {
    if (text.empty()) return "is empty";
    if (digits.empty()) return text[0] == '-' ? "is negative" : "does not begin with a number";
    if (digits.size() > 1 && digits[0] == '0') return "has a leading zero";
    if (unit.empty()) return "has no unit";
    if (unit[0] == '.') return "is not a whole number";
    if (unit[0] == ' ') return "has a space between number and unit";
    const bool sum = unit.find_first_of("0123456789") != std::string_view::npos;
    return sum ? "is a sum of units" : "has an unknown unit";
}

struct Unit {
    std::string_view name;
    std::uint64_t factor;
};
constexpr std::array<Unit, 5> time_units{{{"d", 86'400'000}, {"h", 3'600'000}, {"m", 60'000}, {"s", 1000}, {"ms", 1}}};
constexpr std::array<Unit, 4> size_units{{{"GiB", 1U << 30U}, {"MiB", 1U << 20U}, {"KiB", 1U << 10U}, {"B", 1}}};
constexpr std::uint64_t largest = 1'000'000'000'000'000;  // 31,000 years in ms, 900 TiB in bytes: far over every range

template <std::size_t N>
Result<std::uint64_t> parse_measure(std::string_view text, const std::array<Unit, N>& units, std::string_view rule) {
    const std::string_view digits = leading_digits(text);
    const std::string_view name = text.substr(digits.size());
    const auto* const unit = std::find_if(units.begin(), units.end(), [name](const Unit& u) { return u.name == name; });
    const bool zero_led = digits.size() > 1 && digits[0] == '0';
    if (digits.empty() || zero_led || unit == units.end()) return wrong(trouble(text, digits, name), rule);
    std::uint64_t number = 0;
    const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (parsed.ec != std::errc{} || number > largest / unit->factor) return wrong("is far too large", rule);
    return number * unit->factor;
}

template <std::size_t N>
std::string in_units(std::uint64_t value, const std::array<Unit, N>& units) {
    if (value == 0) return "0" + std::string(units.back().name == "ms" ? "s" : units.back().name);
    std::string out;
    for (const Unit& unit : units) {
        if (value < unit.factor) continue;
        out += std::to_string(value / unit.factor) + std::string(unit.name);
        value %= unit.factor;
    }
    return out;
}

}  // namespace

Result<std::uint64_t> parse_integer(std::string_view text) {
    static constexpr std::string_view rule = "digits only, such as 10";
    if (text.empty()) return wrong("is empty", rule);
    if (text[0] == '-') return wrong("is negative", rule);
    if (leading_digits(text).size() != text.size()) return wrong("is not a whole number", rule);
    if (text.size() > 1 && text[0] == '0') return wrong("has a leading zero, which some read as octal", "write it without");
    std::uint64_t number = 0;
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
    if (parsed.ec != std::errc{}) return wrong("is far too large", rule);
    return number;
}

Result<Milliseconds> parse_duration(std::string_view text) {
    const Result<std::uint64_t> value = parse_measure(text, time_units, duration_rule);
    if (!value) return value.error();
    return Milliseconds{static_cast<Milliseconds::rep>(*value)};
}

Result<ByteCount> parse_size(std::string_view text) {
    const Result<std::uint64_t> value = parse_measure(text, size_units, size_rule);
    if (!value) return value.error();
    return ByteCount{*value};
}

Result<Ratio> parse_ratio(std::string_view text) {
    if (!text.ends_with('%')) return wrong("has no %", ratio_rule);
    const Result<std::uint64_t> percent = parse_integer(text.substr(0, text.size() - 1));
    if (!percent) return wrong(percent.error().what, ratio_rule);
    return Ratio{static_cast<double>(*percent) / 100};
}

Result<Frequency> parse_frequency(std::string_view text) {
    const std::size_t slash = text.find('/');
    if (slash == std::string_view::npos) return wrong("says no unit of time", frequency_rule);
    const Result<std::uint64_t> count = parse_integer(text.substr(0, slash));
    if (!count) return wrong(count.error().what, frequency_rule);
    if (*count > most_at_once) return wrong("is far too large", frequency_rule);
    const std::string_view name = text.substr(slash + 1);
    const auto* const unit =
        std::find_if(time_units.begin(), time_units.end(), [name](const Unit& u) { return u.name == name && name != "ms"; });
    if (unit == time_units.end()) return wrong("has an unknown unit of time", frequency_rule);
    return Frequency{static_cast<std::uint32_t>(*count), Milliseconds{static_cast<Milliseconds::rep>(unit->factor)}};
}

Result<double> parse_factor(std::string_view text) {
    static constexpr std::string_view rule = "a factor is a number such as 2 or 1.5";
    const std::string_view whole = leading_digits(text);
    const Result<std::uint64_t> number = parse_integer(whole);
    if (!number) return wrong(whole.empty() ? "is not a number" : number.error().what, rule);
    if (whole.size() == text.size()) return static_cast<double>(*number);
    const std::string_view fraction = text.substr(whole.size() + 1);
    const bool good =
        text[whole.size()] == '.' && !fraction.empty() && fraction.size() <= 3 && leading_digits(fraction) == fraction;
    if (!good) return wrong("is not a number", rule);
    double value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
}

std::string to_text(Milliseconds duration) {
    return in_units(static_cast<std::uint64_t>(duration.count()), time_units);
}

std::string to_text(ByteCount size) {
    for (const Unit& unit : size_units) {
        if (size.value >= unit.factor && size.value % unit.factor == 0)
            return std::to_string(size.value / unit.factor) + std::string(unit.name);
    }
    return "0B";
}

std::string to_text(Frequency frequency) {
    for (const Unit& unit : time_units) {
        if (static_cast<std::uint64_t>(frequency.per.count()) == unit.factor)
            return std::to_string(frequency.count) + "/" + std::string(unit.name);
    }
    return std::to_string(frequency.count) + "/" + to_text(frequency.per);
}

}  // namespace retryd::policyfile
