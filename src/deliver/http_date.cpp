#include "deliver/http_date.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>

namespace retryd::deliver {
namespace {

using namespace std::chrono;

constexpr std::array<std::string_view, 12> month_names{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                       "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

// Takes a date apart from left to right; the first thing that does not fit spoils the rest.
class DateText {
public:
    explicit DateText(std::string_view text) : rest_(text) {}

    void literal(std::string_view expected) {
        good_ = good_ && rest_.starts_with(expected);
        if (good_) rest_.remove_prefix(expected.size());
    }
    void space_padded_day(int& day) {
        if (good_ && rest_.starts_with(' ')) {
            rest_.remove_prefix(1);
            number(day, 1);
        } else {
            number(day, 2);
        }
    }
    void number(int& value, std::size_t digits) {
        const auto field = take(digits);
        good_ = good_ && std::all_of(field.begin(), field.end(), [](char c) { return c >= '0' && c <= '9'; });
        if (good_) std::from_chars(field.data(), field.data() + field.size(), value);
    }
    void month(int& value) {
        const auto* const found = std::find(month_names.begin(), month_names.end(), take(3));
        good_ = good_ && found != month_names.end();
        if (good_) value = static_cast<int>(found - month_names.begin()) + 1;
    }
    void time(int& hour, int& minute, int& second) {
        number(hour, 2);
        literal(":");
        number(minute, 2);
        literal(":");
        number(second, 2);
    }
    [[nodiscard]] bool ended_well() const { return good_ && rest_.empty(); }

private:
    std::string_view take(std::size_t count) {
        good_ = good_ && rest_.size() >= count;
        if (!good_) return {};
        const auto taken = rest_.substr(0, count);
        rest_.remove_prefix(count);
        return taken;
    }
    std::string_view rest_;
    bool good_ = true;
};

struct Parts {
    int year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0;
};

std::optional<model::WallTime> to_time(const Parts& parts) {
    const auto date = year{parts.year} / parts.month / parts.day;
    if (!date.ok() || parts.hour > 23 || parts.minute > 59 || parts.second > 60) return std::nullopt;
    const auto time = sys_days{date} + hours{parts.hour} + minutes{parts.minute} + seconds{parts.second};
    return model::WallTime{duration_cast<milliseconds>(time.time_since_epoch())};
}

// "06 Nov 1994 08:49:37 GMT", and with hyphens and a year of two digits "06-Nov-94 08:49:37 GMT".
std::optional<model::WallTime> parse_day_first(std::string_view text) {
    const bool hyphens = text.size() > 2 && text[2] == '-';
    const std::string_view separator = hyphens ? "-" : " ";
    Parts parts;
    DateText date(text);
    date.number(parts.day, 2);
    date.literal(separator);
    date.month(parts.month);
    date.literal(separator);
    date.number(parts.year, hyphens ? 2 : 4);
    date.literal(" ");
    date.time(parts.hour, parts.minute, parts.second);
    date.literal(" GMT");
    if (hyphens) parts.year += parts.year < 70 ? 2000 : 1900;
    return date.ended_well() ? to_time(parts) : std::nullopt;
}

// "Nov  6 08:49:37 1994"
std::optional<model::WallTime> parse_asctime(std::string_view text) {
    Parts parts;
    DateText date(text);
    date.month(parts.month);
    date.literal(" ");
    date.space_padded_day(parts.day);
    date.literal(" ");
    date.time(parts.hour, parts.minute, parts.second);
    date.literal(" ");
    date.number(parts.year, 4);
    return date.ended_well() ? to_time(parts) : std::nullopt;
}

// So many digits of a number that has no more, over what stands there.
template <class Number>
void write_digits(std::string& text, std::size_t at, std::size_t count, Number number) {
    for (; count > 0; --count, number /= 10) text[at + count - 1] = static_cast<char>('0' + number % 10);
}

}  // namespace

std::string to_rfc3339(model::WallTime time) {
    constexpr auto first = sys_days{year{0} / 1 / 1};
    constexpr auto end = sys_days{year{10000} / 1 / 1};
    const auto since_1970 =
        std::clamp<milliseconds>(time.time_since_epoch(), first.time_since_epoch(), end.time_since_epoch() - milliseconds{1});
    const sys_time<milliseconds> point{since_1970};
    const auto day = floor<days>(point);
    const year_month_day date{day};
    const hh_mm_ss clock{point - day};
    std::string text = "0000-00-00T00:00:00.000Z";
    write_digits(text, 0, 4, static_cast<int>(date.year()));
    write_digits(text, 5, 2, static_cast<unsigned>(date.month()));
    write_digits(text, 8, 2, static_cast<unsigned>(date.day()));
    write_digits(text, 11, 2, clock.hours().count());
    write_digits(text, 14, 2, clock.minutes().count());
    write_digits(text, 17, 2, clock.seconds().count());
    write_digits(text, 20, 3, clock.subseconds().count());
    return text;
}

std::optional<model::WallTime> parse_http_date(std::string_view text) {
    // The day's name is not checked against the date: it says nothing that the date does not.
    if (const auto comma = text.find(", "); comma != std::string_view::npos) return parse_day_first(text.substr(comma + 2));
    return text.size() > 4 && text[3] == ' ' ? parse_asctime(text.substr(4)) : std::nullopt;
}

}  // namespace retryd::deliver
