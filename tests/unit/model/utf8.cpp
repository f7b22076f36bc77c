#include "model/utf8.hpp"

#include <catch2/catch.hpp>

using namespace retryd::model;
using namespace std::string_view_literals;

TEST_CASE("the length of the first character is told, and 0 where the bytes are none") {
    struct Row {
        std::string_view text;
        std::size_t length;
    };
    const Row rows[] = {
        {""sv, 0},
        {"\0"sv, 1},
        {"az"sv, 1},
        {"\xc3\xa9"sv, 2},
        {"\xe2\x82\xac"sv, 3},
        {"\xed\x9f\xbf"sv, 3},  // U+D7FF, the last below the surrogates
        {"\xf0\x9f\x98\x80"sv, 4},
        {"\xf4\x8f\xbf\xbf"sv, 4},  // U+10FFFF
        {"\x80"sv, 0},              // a continuation alone
        {"\xc3"sv, 0},              // cut off
        {"\xe2\x82"sv, 0},          // cut off
        {"\xc3("sv, 0},             // no continuation
        {"\xc0\xaf"sv, 0},          // overlong
        {"\xe0\x80\xaf"sv, 0},      // overlong
        {"\xf0\x80\x80\xaf"sv, 0},  // overlong
        {"\xed\xa0\x80"sv, 0},      // a surrogate
        {"\xf4\x90\x80\x80"sv, 0},  // above U+10FFFF
        {"\xf5\x80\x80\x80"sv, 0},
        {"\xff"sv, 0},
    };
    for (const Row& row : rows) {
        INFO(row.text.size() << " bytes, expected " << row.length);
        CHECK(utf8_character(row.text) == row.length);
    }
}
