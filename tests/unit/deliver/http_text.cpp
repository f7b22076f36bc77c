#include "deliver/http_text.hpp"

#include <catch2/catch.hpp>

using namespace retryd::deliver;

namespace {

std::string escaped_name(std::string_view text) {
    std::string out;
    append_escaped_name(out, text);
    return out;
}

std::string escaped_value(std::string_view text) {
    std::string out;
    append_escaped_value(out, text);
    return out;
}

}  // namespace

TEST_CASE("a name keeps its token characters and no other") {
    CHECK(escaped_name("x-tenant_1.a!#$&'*+^`|~") == "x-tenant_1.a!#$&'*+^`|~");
    CHECK(escaped_name("a b:c\r\nd") == "a%20b%3Ac%0D%0Ad");
    CHECK(escaped_name("100%") == "100%25");
    CHECK(escaped_name("\xc3\xa9") == "%C3%A9");
    CHECK(escaped_name(std::string_view("\0(", 2)) == "%00%28");
    CHECK(escaped_name("").empty());
}

TEST_CASE("a value keeps its printable bytes, and spaces only inside") {
    CHECK(escaped_value("a b, \"c\" (d)") == "a b, \"c\" (d)");
    CHECK(escaped_value("a\r\nX-Admin: 1") == "a%0D%0AX-Admin: 1");
    CHECK(escaped_value("  a b ") == "%20%20a b%20");
    CHECK(escaped_value("  ") == "%20%20");
    CHECK(escaped_value("\t\x7f\x80\xff%") == "%09%7F%80%FF%25");
    CHECK(escaped_value("").empty());
}

TEST_CASE("a plain value may stand in a header as it is") {
    CHECK(is_plain_value("application/json; charset=utf-8"));
    const auto* const text = GENERATE("", " a", "a ", "a\r\nb", "a\tb", "\xc3\xa9");
    CAPTURE(text);
    CHECK_FALSE(is_plain_value(text));
}

TEST_CASE("names are compared without regard to case, in ASCII") {
    CHECK(equal_ignoring_case("Retry-After", "rETRY-aFTER"));
    CHECK_FALSE(equal_ignoring_case("Retry-After", "Retry-Afte"));
    CHECK_FALSE(equal_ignoring_case("[", "{"));
    CHECK(lower_case("Amqp-X[") == "amqp-x[");
}

TEST_CASE("spaces and tabs round a value are not part of it") {
    CHECK(trimmed(" \ta b\t ") == "a b");
    CHECK(trimmed(" \t").empty());
}
