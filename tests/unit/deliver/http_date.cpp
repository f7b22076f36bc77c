#include "deliver/http_date.hpp"

#include <catch2/catch.hpp>

#include <limits>

using namespace retryd;
using deliver::parse_http_date;
using deliver::to_rfc3339;

namespace {

model::WallTime at(std::int64_t milliseconds) {
    return model::WallTime{model::Milliseconds{milliseconds}};
}

}  // namespace

TEST_CASE("a point in time is written in RFC 3339 with milliseconds") {
    CHECK(to_rfc3339(at(0)) == "1970-01-01T00:00:00.000Z");
    CHECK(to_rfc3339(at(784111777042)) == "1994-11-06T08:49:37.042Z");
    CHECK(to_rfc3339(at(-1)) == "1969-12-31T23:59:59.999Z");
    CHECK(to_rfc3339(at(951782400000)) == "2000-02-29T00:00:00.000Z");
}

TEST_CASE("times beyond four digits of years are cut, whatever a header claimed") {
    CHECK(to_rfc3339(at(std::numeric_limits<std::int64_t>::max())) == "9999-12-31T23:59:59.999Z");
    CHECK(to_rfc3339(at(std::numeric_limits<std::int64_t>::min())) == "0000-01-01T00:00:00.000Z");
}

TEST_CASE("the three date forms of HTTP mean the same second") {
    const auto* const form =
        GENERATE("Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994");
    CAPTURE(form);
    CHECK(parse_http_date(form) == at(784111777000));
}

TEST_CASE("two digits of a year are the nearer century's") {
    CHECK(to_rfc3339(parse_http_date("Monday, 30-Nov-26 10:00:00 GMT").value()) == "2026-11-30T10:00:00.000Z");
    CHECK(to_rfc3339(parse_http_date("Thursday, 01-Jan-70 00:00:00 GMT").value()) == "1970-01-01T00:00:00.000Z");
}

TEST_CASE("an asctime day of two digits is read") {
    CHECK(to_rfc3339(parse_http_date("Mon Nov 30 10:00:00 2026").value()) == "2026-11-30T10:00:00.000Z");
}

TEST_CASE("what is no date is nothing") {
    const auto* const text = GENERATE(
        "", "abc", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 CET", "Sun, 31 Feb 1994 08:49:37 GMT",
        "Sun, 06 Nov 1994 24:00:00 GMT", "Sun, 06 Nov 1994 08:60:00 GMT", "Sun, 06 nov 1994 08:49:37 GMT",
        "Sun, +6 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 GMT ", "Sun, ", "Sun Nov", "06 Nov 1994 08:49:37 GMT");
    CAPTURE(text);
    CHECK_FALSE(parse_http_date(text).has_value());
}
