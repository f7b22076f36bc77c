#include "app/journal.hpp"

#include "model/header_json.hpp"
#include "model/utf8.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <climits>
#include <cstdio>
#include <ctime>
#include <string_view>
#include <utility>

namespace retryd::app {
namespace {

using model::LogFormat;
using model::LogLevel;

std::string_view to_text(LogLevel level) {
    switch (level) {
        case LogLevel::debug: return "debug";
        case LogLevel::info: return "info";
        case LogLevel::warn: return "warn";
        case LogLevel::error: return "error";
    }
    return "";
}

// "2026-11-30T12:00:01.123Z"
std::string timestamp(model::WallTime at) {
    const auto since_epoch = at.time_since_epoch();
    const auto seconds = std::chrono::floor<std::chrono::seconds>(since_epoch);
    const std::time_t whole = seconds.count();
    std::tm parts{};
    ::gmtime_r(&whole, &parts);
    std::array<char, 32> date{};
    std::array<char, 8> fraction{};
    const std::size_t size = std::strftime(date.data(), date.size(), "%Y-%m-%dT%H:%M:%S", &parts);
    std::snprintf(fraction.data(), fraction.size(), ".%03dZ", static_cast<int>((since_epoch - seconds).count()));
    return std::string{date.data(), size} + fraction.data();
}

// A JSON string in which everything is escaped that some terminal or reader would obey instead of showing it.
std::string quoted(std::string_view text) {
    std::string literal;
    model::append_json_string(literal, text);
    std::string out;
    for (std::string_view rest = literal; !rest.empty();) {
        const std::string_view character = rest.substr(0, model::utf8_character(rest));
        rest.remove_prefix(character.size());
        const std::uint32_t number = model::code_point(character);
        if (model::is_control(number)) {
            std::array<char, 8> escape{};
            std::snprintf(escape.data(), escape.size(), "\\u%04x", number);
            out += escape.data();
        } else {
            out += character;
        }
    }
    return out;
}

bool is_plain_word(std::string_view text) {
    return !text.empty() && std::all_of(text.begin(), text.end(),
                                        [](char c) { return c > ' ' && c < 0x7F && c != '"' && c != '=' && c != '\\'; });
}

std::string json_line(const ports::LogEvent& event, model::WallTime at) {
    std::string line = "{\"ts\":\"" + timestamp(at) + "\",\"level\":\"";
    line.append(to_text(event.level)).append("\",\"event\":").append(quoted(event.event));
    for (const auto& [name, value] : event.fields) line.append(",").append(quoted(name)).append(":").append(quoted(value));
    return line + "}\n";
}

std::string text_line(const ports::LogEvent& event, model::WallTime at) {
    constexpr std::size_t date_size = std::string_view{"2026-11-30T"}.size();
    constexpr std::size_t clock_size = std::string_view{"12:00:01.123"}.size();
    constexpr std::size_t level_size = 6;
    std::string level{to_text(event.level)};
    level.resize(level_size, ' ');
    std::string line = timestamp(at).substr(date_size, clock_size) + " " + level;
    line += event.event;
    for (const auto& [name, value] : event.fields) {
        line.append(" ").append(name).append("=").append(is_plain_word(value) ? value : quoted(value));
    }
    return line + "\n";
}

// How much of it the descriptor takes without waiting. It is asked first, since what is inherited may block, and others that
// share it would be surprised if it did not: a pipe that is ready takes PIPE_BUF bytes.
std::size_t written(int descriptor, std::string_view text) {
    std::size_t taken = 0;
    while (taken < text.size()) {
        pollfd ready{descriptor, POLLOUT, 0};
        if (::poll(&ready, 1, 0) <= 0) break;
        const ssize_t size = ::write(descriptor, text.data() + taken, std::min<std::size_t>(text.size() - taken, PIPE_BUF));
        if (size < 0 && errno == EINTR) continue;
        if (size <= 0) break;
        taken += static_cast<std::size_t>(size);
    }
    return taken;
}

LogFormat settled(LogFormat format, int descriptor) {
    if (format != LogFormat::automatic) return format;
    return ::isatty(descriptor) == 1 ? LogFormat::text : LogFormat::json;
}

model::WallTime now() {
    const auto since_epoch = std::chrono::system_clock::now().time_since_epoch();
    return model::WallTime{std::chrono::duration_cast<model::Milliseconds>(since_epoch)};
}

}  // namespace

std::string format_line(const ports::LogEvent& event, model::WallTime at, LogFormat format) {
    return format == LogFormat::text ? text_line(event, at) : json_line(event, at);
}

DescriptorJournal::DescriptorJournal(int descriptor, LogLevel least, LogFormat format)
    : descriptor_(descriptor), least_(least), format_(settled(format, descriptor)) {}

void DescriptorJournal::record(const ports::LogEvent& event) {
    if (!keeps(event.level)) return;
    if (lost_ == 0) return write(format_line(event, now(), format_));
    ports::LogEvent whole = event;
    whole.fields.emplace_back("lines_lost_before", std::to_string(lost_));
    write(format_line(whole, now(), format_));
}

void DescriptorJournal::write(std::string line) {
    if (torn_) line.insert(0, "\n");
    const std::size_t taken = written(descriptor_, line);
    if (taken == line.size()) {
        lost_ = 0;
        torn_ = false;
        return;
    }
    ++lost_;
    if (taken > 0) torn_ = true;
}

}  // namespace retryd::app
