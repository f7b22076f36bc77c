#include "model/pattern.hpp"

#include <catch2/catch.hpp>

using namespace retryd::model;

namespace {

bool matches(std::string_view pattern, std::string_view text) {
    return Pattern::parse(pattern).value().matches(text);
}

}  // namespace

TEST_CASE("a glob matches the whole text, a star any run of it") {
    struct Row {
        const char* pattern;
        const char* text;
        bool matches;
    };
    const Row rows[] = {
        {"", "", true},
        {"", "a", false},
        {"*", "", true},
        {"*", "any\nthing", true},
        {"abc", "abc", true},
        {"abc", "abcd", false},
        {"abc", "ABC", false},
        {"*Error", "DbError", true},
        {"*Error", "DbErrors", false},
        {"Schema*", "SchemaValidation", true},
        {"a*b*c", "a-b-b-c", true},
        {"a*b*c", "a-c-b", false},
        {"*a*a*", "a", false},
        {"**", "x", true},
        {"a.c", "abc", false},
        {"a?c", "abc", false},
        {"[a]", "a", false},
    };
    for (const Row& row : rows) {
        INFO(row.pattern << " on " << row.text);
        CHECK(matches(row.pattern, row.text) == row.matches);
    }
}

TEST_CASE("many stars on a long text that nearly matches do not take for ever") {
    std::string pattern;
    for (int i = 0; i < 30; ++i) pattern += "a*";
    CHECK_FALSE(matches(pattern + "b", std::string(100'000, 'a')));
}

TEST_CASE("re: matches the whole text with an RE2 expression") {
    CHECK(matches("re:(?i)timeout.*", "TimeOut after 5 s"));
    CHECK(matches("re:.*timeout.*", "first line\na timeout\nlast line"));
    CHECK_FALSE(matches("re:timeout", "a timeout"));
    CHECK(matches("re:", ""));
    CHECK(matches("re:(a|b)+", "abba"));
}

TEST_CASE("an expression that takes others for ever, or their stack, is answered") {
    CHECK_FALSE(matches("re:(a*)*b", std::string(200'000, 'a')));
    CHECK(matches("re:(a|b|ab)*", std::string(200'000, 'b')));
}

TEST_CASE("a bad expression is refused in RE2's own words") {
    const auto pattern = Pattern::parse("re:(unclosed");
    REQUIRE(pattern.has_error());
    CHECK(pattern.error().code == ProblemCode::bad_syntax);
    CHECK_THAT(pattern.error().what, Catch::Contains("missing )"));
    CHECK(Pattern::parse("re:(?=look)").has_error());
    CHECK(Pattern::parse("re:a{1000000}").has_error());
}

TEST_CASE("a pattern keeps the text that it was written as") {
    CHECK(Pattern::parse("re:a+").value().text() == "re:a+");
    CHECK(Pattern::parse("a*").value() == Pattern::parse("a*").value());
    CHECK_FALSE(Pattern::parse("a*").value() == Pattern::parse("re:a*").value());
}
