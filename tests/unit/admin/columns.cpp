#include "admin/columns.hpp"

#include <catch2/catch.hpp>

using namespace retryd::admin;

TEST_CASE("a paragraph breaks between words, at 100 columns") {
    std::string words;
    for (int i = 0; i < 30; ++i) words += "12345678 ";
    words.pop_back();
    const std::string text = paragraph(words, 0, 2);
    std::size_t start = 0;
    for (std::size_t end = text.find('\n'); end != std::string::npos; start = end + 1, end = text.find('\n', start)) {
        const std::string line = text.substr(start, end - start);
        CHECK(columns(line) <= width);
        CHECK(line.starts_with(start == 0 ? "1" : "  1"));
    }
    CHECK(start == text.size());
}

TEST_CASE("a word that is too long for a line stands on its own, whole") {
    const std::string word(150, 'x');
    CHECK(paragraph("a " + word + " b", 0, 2) == "a\n  " + word + "\n  b\n");
}

TEST_CASE("columns are characters, not bytes") {
    CHECK(columns("gr\xc3\xbc\xc3\x9f") == 4);
    CHECK(left("\xc3\xbc", 3) == "\xc3\xbc  ");
    CHECK(right("\xc3\xbc", 3) == "  \xc3\xbc");
}

TEST_CASE("a table sets numbers to the right and gives a long name a line of its own") {
    CHECK(set_table({{"Q", "N"}, {"a", "100"}}, 1) == "Q    N\na  100\n");
    const std::string name(120, 'q');
    CHECK(set_table({{"Q", "N"}, {name, "1"}}, 1).find(name + "\n") != std::string::npos);
}
