#include "model/header_json.hpp"
#include "model/ledger.hpp"
#include "unit/model/samples.hpp"

#include <catch2/catch.hpp>

using namespace retryd::model;
using namespace std::string_view_literals;

TEST_CASE("failures that differ in numbers, ids and quoted text only have one fingerprint") {
    struct Row {
        const char* one;
        const char* other;
    };
    const Row rows[] = {
        {"timeout after 5 s", "timeout after 30 s"},
        {"no row 17", "no row 123456789"},
        {"took 1.5 s", "took 12 s"},
        {"order 6f1c2d3e-0a1b-4c5d-8e9f-001122334455 failed", "order 00000000-0000-4000-8000-000000000001 failed"},
        {"object deadbeef is gone", "object 0badcafe is gone"},
        {"connect to 10.0.0.1:5432 refused", "connect to 192.168.17.4:80 refused"},
        {"at 2026-11-30T16:30:23.123Z", "at 2025-01-02T03:04:05.678Z"},
        {"unknown user 'bob'", "unknown user 'alice in chains'"},
        {"bad value \"x\" for `y`", "bad value \"\" for `other column`"},
    };
    for (const Row& row : rows) {
        INFO(row.one);
        CHECK(fingerprint("E", row.one) == fingerprint("E", row.other));
    }
}

TEST_CASE("failures that differ in words have different fingerprints") {
    CHECK(fingerprint("A", "x") != fingerprint("B", "x"));
    CHECK(fingerprint("http.500", "") != fingerprint("http.503", ""));
    CHECK(fingerprint("A", "disk full") != fingerprint("A", "disk gone"));
    CHECK(fingerprint("A", "at Pay.java:7") != fingerprint("A", "at Ship.java:7"));
    CHECK(fingerprint("AB", "C") != fingerprint("A", "BC"));
    CHECK(fingerprint("A", "can't read, won't wait") != fingerprint("A", "can't write, won't wait"));
    CHECK(fingerprint("A", "a lone ' quote") != fingerprint("A", "a lone ' word"));
    CHECK(fingerprint("A", "add a cab") != fingerprint("A", "fed a bee"));
}

TEST_CASE("a fingerprint stays what it is from version to version") {
    CHECK(fingerprint("", "") == "af63c74c8601c8dd");
    CHECK(fingerprint("DbTimeout", "no answer in 30 s").size() == 16);
}

TEST_CASE("text is cut at the end of a character") {
    struct Row {
        std::string_view text;
        std::size_t limit;
        std::string_view cut;
    };
    const Row rows[] = {
        {"", 5, ""},
        {"short", 5, "short"},
        {"longer", 5, "longe"},
        {"caf\xc3\xa9", 5, "caf\xc3\xa9"},
        {"caf\xc3\xa9", 4, "caf"},
        {"x", 0, ""},
    };
    for (const Row& row : rows) {
        INFO(row.text << " to " << row.limit);
        CHECK(cut_text(row.text, row.limit) == row.cut);
    }
}

TEST_CASE("an error page with line breaks, NULs and bytes that are no text becomes one line of text") {
    CHECK(cut_text("<html>\r\n\0\xff</html>\x7f\x1b[0m"sv, 100) ==
          std::string("<html>") + std::string(4, '?') + "</html>" + std::string(2, '?') + "[0m");
    CHECK(cut_text("\xc2\x85next\xc2\xa0line", 100) == "?next\xc2\xa0line");
}

TEST_CASE("what would turn the direction of the text round it is not shown") {
    CHECK(cut_text("a\u202Eb\u2066c\u2069\u200F\u061C\u2028\u2029d", 100) == "a?b?c?????d");
    CHECK(cut_text("\u05E9\u05DC\u05D5\u05DD \u200B\u2027\u2030\u206A", 100) ==
          "\u05E9\u05DC\u05D5\u05DD \u200B\u2027\u2030\u206A");
}

TEST_CASE("any bytes have a fingerprint and a cut that is text within its limit") {
    samples::Chance chance(6);
    constexpr std::string_view quotes = "'\"` a1.-\xff";
    for (int i = 0; i < 5000; ++i) {
        std::string text = chance.bytes(100);
        for (char& c : text) {
            if (chance.coin()) c = quotes[chance.below(quotes.size())];
        }
        const std::size_t limit = chance.below(120);
        const std::string cut = cut_text(text, limit);
        REQUIRE(cut.size() <= limit);
        REQUIRE(is_utf8(cut));
        REQUIRE(cut_text(cut, limit) == cut);
        REQUIRE(fingerprint(text, text).size() == 16);
    }
}
