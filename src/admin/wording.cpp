#include "admin/wording.hpp"

#include "model/ledger.hpp"

#include <array>
#include <chrono>
#include <ctime>
#include <string_view>

namespace retryd::admin {
namespace {

using namespace std::chrono_literals;

// One digit after the point while it says something: "4.5", "12", "4".
std::string with_tenth(std::uint64_t value, std::uint64_t unit) {
    const std::uint64_t whole = value / unit;
    const std::uint64_t tenth = (value % unit) * 10 / unit;
    return std::to_string(whole) + (whole < 10 && tenth != 0 ? "." + std::to_string(tenth) : "");
}

}  // namespace

std::string span_text(model::Milliseconds span) {
    struct Step {
        model::Milliseconds below, unit;
        std::string_view name;
    };
    static constexpr std::array steps{Step{1s, 1ms, " ms"}, Step{2min, 1s, " s"}, Step{2h, 1min, " min"}, Step{48h, 1h, " h"}};
    for (const Step& step : steps) {
        if (span < step.below) return std::to_string(span / step.unit).append(step.name);
    }
    return std::to_string(span / 24h).append(" d");
}

std::string exact_span_text(model::Milliseconds span) {
    if (span >= 2min && span % 1min == 0ms) return std::to_string(span / 1min).append(" min");
    if (span < 1s) return std::to_string(span / 1ms).append(" ms");
    std::string thousandths = std::to_string(span % 1s / 1ms + 1000).substr(1);
    while (thousandths.ends_with('0')) thousandths.pop_back();
    return std::to_string(span / 1s).append(thousandths.empty() ? "" : "." + thousandths).append(" s");
}

std::string time_text(model::WallTime time) {
    const std::time_t seconds = std::chrono::floor<std::chrono::seconds>(time.time_since_epoch()).count();
    std::tm parts{};
    ::gmtime_r(&seconds, &parts);
    std::array<char, 32> text{};
    return {text.data(), std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%SZ", &parts)};
}

std::string count_text(std::uint64_t count) {
    if (count < 100'000) return std::to_string(count);
    if (count < 1'000'000) return std::to_string(count / 1000) + "k";
    return with_tenth(count, 1'000'000) + "M";
}

std::string bytes_text(std::uint64_t byte_count) {
    static constexpr std::array<std::string_view, 4> units{" KiB", " MiB", " GiB", " TiB"};
    if (byte_count < 1024) return std::to_string(byte_count) + " B";
    std::size_t unit = 0;
    std::uint64_t size = 1024;
    for (; unit + 1 < units.size() && byte_count / size >= 1024; ++unit) size *= 1024;
    return with_tenth(byte_count, size).append(units[unit]);
}

std::string clean(std::string_view text) {
    return model::cut_text(text, text.size());
}

}  // namespace retryd::admin
