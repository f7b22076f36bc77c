#include "admin/wording.hpp"

#include <catch2/catch.hpp>

using namespace retryd;
using namespace retryd::admin;
using namespace std::chrono_literals;

TEST_CASE("spans are said in the unit that fits") {
    using Row = std::pair<model::Milliseconds, std::string>;
    const auto [span, text] = GENERATE(Row{0ms, "0 ms"}, Row{999ms, "999 ms"}, Row{1s, "1 s"}, Row{12'900ms, "12 s"},
                                       Row{119s, "119 s"}, Row{2min, "2 min"}, Row{119min, "119 min"}, Row{2h, "2 h"},
                                       Row{47h, "47 h"}, Row{48h, "2 d"}, Row{240h, "10 d"});
    CHECK(span_text(span) == text);
}

TEST_CASE("large counts are shortened") {
    using Row = std::pair<std::uint64_t, std::string>;
    const auto [count, text] = GENERATE(Row{0, "0"}, Row{99'999, "99999"}, Row{100'000, "100k"}, Row{999'999, "999k"},
                                        Row{1'000'000, "1M"}, Row{4'590'000, "4.5M"}, Row{45'900'000, "45M"});
    CHECK(count_text(count) == text);
}

TEST_CASE("sizes are said in powers of 1024") {
    using Row = std::pair<std::uint64_t, std::string>;
    const auto [size, text] =
        GENERATE(Row{0, "0 B"}, Row{1023, "1023 B"}, Row{1024, "1 KiB"}, Row{1536, "1.5 KiB"}, Row{256U << 20U, "256 MiB"},
                 Row{std::uint64_t{3} << 30U, "3 GiB"}, Row{std::uint64_t{5000} << 40U, "5000 TiB"});
    CHECK(bytes_text(size) == text);
}

TEST_CASE("an exact span loses nothing") {
    CHECK(exact_span_text(0ms) == "0 ms");
    CHECK(exact_span_text(813ms) == "813 ms");
    CHECK(exact_span_text(1s) == "1 s");
    CHECK(exact_span_text(4137ms) == "4.137 s");
    CHECK(exact_span_text(90s) == "90 s");
    CHECK(exact_span_text(5min) == "5 min");
}

TEST_CASE("a time is told to the second, in UTC") {
    CHECK(time_text(model::WallTime{1'764'558'000'999ms}) == "2025-12-01 03:00:00Z");
    CHECK(time_text(model::WallTime{0ms}) == "1970-01-01 00:00:00Z");
}
