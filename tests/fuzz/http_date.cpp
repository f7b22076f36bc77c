// A date of HTTP: one that is taken is a date of ours, and one that we write is taken for what it is.

#include "deliver/http_date.hpp"
#include "fuzz/input.hpp"

using namespace retryd;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::Input in(data, size);
    const auto text = in.rest();
    const auto written = [](model::WallTime time) { return deliver::to_rfc3339(time); };
    if (const auto time = deliver::parse_http_date(text)) {
        fuzz::require(text.size() <= 64 || text.find(", ") != std::string_view::npos, "a date is short but for its day's name");
        const auto again = written(*time);
        fuzz::require(again.size() == 24 && again.ends_with(".000Z"), "a date of HTTP is one of RFC 3339");
        fuzz::require(*time >= model::WallTime{} - std::chrono::years{1970} - std::chrono::days{2}, "not before the year 0");
        fuzz::require(*time < model::WallTime{} + std::chrono::years{8031}, "not after the year 9999");
    }
    fuzz::Input number(data, size);
    const auto any = written(model::WallTime{model::Milliseconds{static_cast<std::int64_t>(number.number(8))}});
    fuzz::require(any.size() == 24 && any[10] == 'T' && any[23] == 'Z', "every time has its text");
    return 0;
}
