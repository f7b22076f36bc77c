#include "app/journal.hpp"

#include <boost/json.hpp>
#include <catch2/catch.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <string>

using namespace retryd;
using namespace retryd::app;
using namespace std::string_literals;
using model::LogFormat;
using model::LogLevel;

namespace {

const model::WallTime noon{std::chrono::milliseconds{1'796'040'001'123}};

ports::LogEvent event_with(const std::string& value) {
    return {LogLevel::info, "parked", {{"queue", value}}};
}

// Its write end stands for standard error and would block, as what is inherited mostly does; reading does not.
struct Pipe {
    std::array<int, 2> ends{};
    Pipe() {
        REQUIRE(::pipe2(ends.data(), O_CLOEXEC) == 0);
        REQUIRE(::fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0);
    }
    ~Pipe() {
        close_reader();
        ::close(ends[1]);
    }
    void close_reader() {
        if (ends[0] >= 0) ::close(ends[0]);
        ends[0] = -1;
    }
    [[nodiscard]] std::string read() const {
        std::string text(1 << 20, '\0');
        const ssize_t size = ::read(ends[0], text.data(), text.size());
        text.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
        return text;
    }
};

const auto hostile_values = {"\n{\"level\":\"info\",\"event\":\"parked\"}"s,
                             "a\r\nb"s,
                             "\x1b[2J"s,
                             "\xff\xfe"s,
                             "\0"s,
                             "\"},{\""s,
                             "\xc2\x9b"s + "31m",
                             "\xe2\x80\xa8line"s,
                             "\xe2\x80\xae}\"evil"s,
                             "\xe2\x81\xa6isolated\xe2\x81\xa9"s,
                             "back\\slash"s,
                             "\x7f"s,
                             ""s,
                             "gr\xc3\xbc\xc3\x9f"s,
                             "a=b c"s};

bool has_control(std::string_view line) {
    return std::any_of(line.begin(), line.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }) ||
           line.find("\xc2\x9b") != std::string_view::npos || line.find("\xe2\x80\xa8") != std::string_view::npos ||
           line.find("\xe2\x80\xae") != std::string_view::npos || line.find("\xe2\x81\xa6") != std::string_view::npos ||
           line.find('\xff') != std::string_view::npos;
}

}  // namespace

TEST_CASE("an event is one line of JSON") {
    const ports::LogEvent event{LogLevel::info, "parked", {{"queue", "orders"}, {"reason", "exhausted"}}};
    CHECK(format_line(event, noon, LogFormat::json) ==
          "{\"ts\":\"2026-11-30T12:00:01.123Z\",\"level\":\"info\",\"event\":\"parked\",\"queue\":\"orders\","
          "\"reason\":\"exhausted\"}\n");
}

TEST_CASE("an event is one line of text") {
    const ports::LogEvent event{LogLevel::warn, "link-down", {{"link", "consume"}, {"why", "connect: refused"}, {"id", ""}}};
    CHECK(format_line(event, noon, LogFormat::text) ==
          "12:00:01.123 warn  link-down link=consume why=\"connect: refused\" id=\"\"\n");
}

TEST_CASE("nothing in a value can forge or break a line of JSON") {
    for (const std::string& value : hostile_values) {
        const std::string line = format_line(event_with(value), noon, LogFormat::json);
        CAPTURE(line);
        CHECK(line.back() == '\n');
        CHECK(!has_control(line.substr(0, line.size() - 1)));
        boost::json::error_code error;
        const auto json = boost::json::parse(line, error);
        REQUIRE(!error);
        CHECK(json.as_object().size() == 4);
        CHECK(json.at("event").as_string() == "parked");
        if (value != "\xff\xfe") CHECK(json.at("queue").as_string() == boost::json::string_view{value});
    }
}

TEST_CASE("nothing in a value can forge or break a line of text") {
    for (const std::string& value : hostile_values) {
        const std::string line = format_line(event_with(value), noon, LogFormat::text);
        CAPTURE(line);
        CHECK(line.back() == '\n');
        CHECK(!has_control(line.substr(0, line.size() - 1)));
    }
    CHECK(format_line(event_with("x reason=forged"), noon, LogFormat::text) ==
          "12:00:01.123 info  parked queue=\"x reason=forged\"\n");
}

TEST_CASE("levels under the least one are not kept") {
    const Pipe pipe;
    DescriptorJournal journal{pipe.ends[1], LogLevel::warn, LogFormat::json};
    CHECK(!journal.keeps(LogLevel::info));
    CHECK(journal.keeps(LogLevel::error));
    journal.record({LogLevel::info, "quiet", {}});
    CHECK(pipe.read().empty());
    journal.record({LogLevel::warn, "loud", {}});
    CHECK(pipe.read().find("\"level\":\"warn\",\"event\":\"loud\"") != std::string::npos);
}

TEST_CASE("automatic means JSON where there is no terminal") {
    const Pipe pipe;
    DescriptorJournal journal{pipe.ends[1], LogLevel::info, LogFormat::automatic};
    journal.record(event_with("orders"));
    CHECK(boost::json::parse(pipe.read()).at("queue").as_string() == "orders");
}

TEST_CASE("a log that nobody reads loses lines, counts them, and says so when somebody reads again") {
    const Pipe pipe;
    DescriptorJournal journal{pipe.ends[1], LogLevel::info, LogFormat::json};
    const int more_than_a_pipe_holds = 3000;
    for (int i = 0; i < more_than_a_pipe_holds; ++i) journal.record(event_with(std::string(100, 'x')));
    const std::string first = pipe.read();
    const auto kept = std::count(first.begin(), first.end(), '\n');
    CHECK(kept < more_than_a_pipe_holds);
    journal.record(event_with("orders"));
    const auto next = boost::json::parse(pipe.read());
    CHECK(next.at("lines_lost_before").as_string() == boost::json::string_view{std::to_string(more_than_a_pipe_holds - kept)});
    journal.record(event_with("orders"));
    CHECK(pipe.read().find("lines_lost_before") == std::string::npos);
}

TEST_CASE("a line that was taken in part does not spoil the next one") {
    const Pipe pipe;
    DescriptorJournal journal{pipe.ends[1], LogLevel::info, LogFormat::json};
    journal.record(event_with(std::string(200'000, 'x')));  // more than a pipe holds
    const std::string part = pipe.read();
    CHECK(!part.empty());
    CHECK(part.back() == 'x');
    journal.record(event_with("orders"));
    const std::string next = pipe.read();
    CHECK(next.front() == '\n');
    CHECK(boost::json::parse(next).at("lines_lost_before").as_string() == "1");
}

TEST_CASE("a log whose reader is gone does not end the process") {
    std::signal(SIGPIPE, SIG_IGN);  // as the daemon does
    Pipe pipe;
    pipe.close_reader();
    DescriptorJournal journal{pipe.ends[1], LogLevel::info, LogFormat::json};
    journal.record(event_with("orders"));
    journal.record(event_with("orders"));
    CHECK(std::signal(SIGPIPE, SIG_DFL) == SIG_IGN);
}
