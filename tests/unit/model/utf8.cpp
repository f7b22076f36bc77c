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

TEST_CASE("a character has its number") {
    CHECK(code_point("a") == 'a');
    CHECK(code_point("\xc3\xa9") == 0xe9);
    CHECK(code_point("\xe2\x82\xac") == 0x20ac);
    CHECK(code_point("\xf0\x9f\x98\x80") == 0x1f600);
}

TEST_CASE("a character that is obeyed instead of shown is a control") {
    for (const std::uint32_t obeyed : {0x00U, 0x0aU, 0x1bU, 0x7fU, 0x80U, 0x9bU, 0x061cU, 0x200eU, 0x200fU, 0x2028U, 0x2029U,
                                       0x202aU, 0x202eU, 0x2066U, 0x2069U}) {
        INFO(obeyed);
        CHECK(is_control(obeyed));
    }
    for (const std::uint32_t shown :
         {0x20U, 0x7eU, 0xa0U, 0xe9U, 0x05d0U, 0x0627U, 0x200bU, 0x2027U, 0x202fU, 0x2030U, 0x2065U, 0x206aU, 0x1f600U}) {
        INFO(shown);
        CHECK_FALSE(is_control(shown));
    }
}
