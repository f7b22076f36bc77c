#include "deliver/http_header_value.hpp"

#include <catch2/catch.hpp>

using namespace std::string_view_literals;
using namespace retryd;

namespace {

std::string text_of(char type, std::string_view bytes) {
    std::string out;
    deliver::append_header_value(out, {type, bytes});
    return out;
}

}  // namespace

TEST_CASE("strings and byte strings go out as their bytes, encoded") {
    CHECK(text_of('S', "\0\0\0\x03 a%"sv) == "%20a%25");
    CHECK(text_of('x', "\0\0\0\x02\xff\x0a"sv) == "%FF%0A");
    CHECK(text_of('S', "\0\0\0\0"sv).empty());
}

TEST_CASE("numbers and booleans go out as text") {
    CHECK(text_of('t', "\x01"sv) == "true");
    CHECK(text_of('t', "\0"sv) == "false");
    CHECK(text_of('b', "\xff"sv) == "-1");
    CHECK(text_of('B', "\xff"sv) == "255");
    CHECK(text_of('s', "\xff\xfe"sv) == "-2");
    CHECK(text_of('u', "\xff\xfe"sv) == "65534");
    CHECK(text_of('I', "\xff\xff\xff\xff"sv) == "-1");
    CHECK(text_of('i', "\xff\xff\xff\xff"sv) == "4294967295");
    CHECK(text_of('l', "\xff\xff\xff\xff\xff\xff\xff\xff"sv) == "-1");
    CHECK(text_of('d', "\x3f\xf8\0\0\0\0\0\0"sv) == "1.5");
    CHECK(text_of('f', "\x3f\xc0\0\0"sv) == "1.5");
    CHECK(text_of('T', "\0\0\0\0\x65\x53\xf1\0"sv) == "1700000000");
}

TEST_CASE("numbers that JSON has no word for go out as text too") {
    CHECK(text_of('d', "\x7f\xf8\0\0\0\0\0\0"sv) == "NaN");
    CHECK(text_of('d', "\x7f\xf0\0\0\0\0\0\0"sv) == "Infinity");
    CHECK(text_of('f', "\xff\x80\0\0"sv) == "-Infinity");
    CHECK(text_of('D', "\0\0\0\x30\x39"sv) == "12345");
    CHECK(text_of('D', "\x02\0\0\x30\x39"sv) == "123.45");
    CHECK(text_of('D', "\x05\0\0\x30\x39"sv) == "0.12345");
    CHECK(text_of('D', "\x07\0\0\x30\x39"sv) == "0.0012345");
    CHECK(text_of('D', "\x02\xff\xff\xcf\xc7"sv) == "-123.45");
    CHECK(text_of('D', "\0\x80\0\0\0"sv) == "-2147483648");
}

TEST_CASE("tables and arrays go out as JSON that keeps its types") {
    CHECK(text_of('F',
                  "\0\0\0\x0b\x01kS\0\0\0\x04"
                  "a\r\nb"sv) == R"({"k":"a\u000d\u000ab"})");
    CHECK(text_of('F', "\0\0\0\x0b\x01kT\0\0\0\0\0\0\0\x07"sv) == R"({"k":{"$timestamp":7}})");
    CHECK(text_of('A', "\0\0\0\x04t\x01t\0"sv) == "[true,false]");
}
