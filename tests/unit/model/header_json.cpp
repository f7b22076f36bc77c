#include "model/header_json.hpp"

#include "unit/model/json_reader.hpp"
#include "unit/model/samples.hpp"

#include <catch2/catch.hpp>

using namespace retryd::model;
using namespace std::string_view_literals;
using samples::big_endian;
using samples::sized;

namespace {

std::string json(char type, std::string_view bytes) {
    std::string out;
    append_json(out, {type, bytes});
    return out;
}

std::string json_of_table(const std::vector<samples::Header>& headers) {
    return json('F', sized(samples::table(headers)));
}

std::string json_string(std::string_view text) {
    std::string out;
    append_json_string(out, text);
    return out;
}

}  // namespace

TEST_CASE("a header value is shown with its type") {
    struct Row {
        char type;
        std::string bytes;
        std::string json;
    };
    const Row rows[] = {
        {'V', "", "null"},
        {'t', std::string(1, '\0'), "false"},
        {'t', "\x01", "true"},
        {'b', "\xfb", "-5"},
        {'B', "\xfa", "250"},
        {'s', big_endian(65536 - 300, 2), "-300"},
        {'u', big_endian(65000, 2), "65000"},
        {'I', big_endian(4294967296 - 70000, 4), "-70000"},
        {'i', big_endian(4000000000, 4), "4000000000"},
        {'l', big_endian(std::uint64_t{1} << 63, 8), "-9223372036854775808"},
        {'L', big_endian(5, 8), "5"},
        {'f', big_endian(0x3fc00000, 4), "1.5"},
        {'f', big_endian(0x3dcccccd, 4), "0.1"},
        {'d', big_endian(0x3fb999999999999a, 8), "0.1"},
        {'d', big_endian(0x3ff0000000000000, 8), "1.0"},
        {'d', big_endian(0x7ff0000000000000, 8), R"({"$double":"Infinity"})"},
        {'d', big_endian(0xfff0000000000000, 8), R"({"$double":"-Infinity"})"},
        {'d', big_endian(0x7ff8000000000000, 8), R"({"$double":"NaN"})"},
        {'f', big_endian(0x7fc00000, 4), R"({"$double":"NaN"})"},
        {'D', std::string("\x02", 1) + big_endian(12345, 4), R"({"$decimal":[2,12345]})"},
        {'D', std::string("\x02", 1) + big_endian(4294967296 - 12345, 4), R"({"$decimal":[2,-12345]})"},
        {'T', big_endian(1700000000, 8), R"({"$timestamp":1700000000})"},
        {'S', sized("text"), R"("text")"},
        {'x', sized("text"), R"({"$bytes":"dGV4dA=="})"},
        {'A', sized(""), "[]"},
        {'A', sized("VV"), "[null,null]"},
        {'F', sized(""), "{}"},
    };
    for (const Row& row : rows) {
        INFO(row.type << " " << row.json);
        CHECK(json(row.type, row.bytes) == row.json);
    }
}

TEST_CASE("a string that is not UTF-8 is shown as bytes, one with a NUL as text") {
    CHECK(json('S', sized("\xff\xfe bad")) == R"({"$bytes":"//4gYmFk"})");
    CHECK(json('S', sized("a\0b"sv)) == R"("a\u0000b")");
}

TEST_CASE("an unsigned number that others read as negative is not shown as if it were certain") {
    CHECK(json('L', big_endian(~std::uint64_t{0}, 8)) == R"({"$bytes":"//////////8="})");
    CHECK(json('T', big_endian(~std::uint64_t{0}, 8)) == R"({"$bytes":"//////////8="})");
}

TEST_CASE("of a key that a table holds twice both are shown") {
    CHECK(json_of_table({samples::number("dup", 1), samples::number("dup", 2)}) == R"({"dup":1,"dup":2})");
}

TEST_CASE("a table that looks like a notation is wrapped, so that it is not taken for one") {
    CHECK(json_of_table({samples::text("$bytes", "AA==")}) == R"({"$table":{"$bytes":"AA=="}})");
    CHECK(json_of_table({samples::number("$a", 1), samples::number("$a", 2)}) == R"({"$table":{"$a":1,"$a":2}})");
    CHECK(json_of_table({samples::number("$a", 1), samples::number("b", 2)}) == R"({"$a":1,"b":2})");
    CHECK(json_of_table({samples::number("a$", 1)}) == R"({"a$":1})");
}

TEST_CASE("tables and arrays are shown to 64 levels, the rest as bytes") {
    for (const char type : {'F', 'A'}) {
        INFO(type);
        const std::string entry = type == 'F' ? std::string("\x01tF") : std::string("A");
        const auto nested = [&](std::size_t levels) {
            std::string bytes;
            for (std::size_t left = levels; left-- > 0;) {
                bytes += (bytes.empty() ? "" : entry) + big_endian(left * (entry.size() + 4), 4);
            }
            return json(type, bytes);
        };
        CHECK(nested(64).find("$bytes") == std::string::npos);
        CHECK(nested(65).find("$bytes") != std::string::npos);
        CHECK(samples::JsonReader::is_json(nested(18000)));
    }
}

TEST_CASE("a malformed value is shown as bytes") {
    CHECK(json('F', sized("\x05k")) == R"({"$bytes":"BWs="})");
    CHECK(json('A', sized("?")) == R"({"$bytes":"Pw=="})");
    CHECK(json('l', "abc") == R"({"$bytes":"YWJj"})");
    CHECK(json('S', "ab") == R"({"$bytes":"YWI="})");
    CHECK(json('?', "ab") == R"({"$bytes":"YWI="})");
}

TEST_CASE("a JSON string forges no line and no quote") {
    CHECK(json_string("a\"b\\c\r\n\t\x7f") == R"("a\"b\\c\u000d\u000a\u0009\u007f")");
    CHECK(json_string("caf\xc3\xa9 \xf0\x9f\x98\x80") == "\"caf\xc3\xa9 \xf0\x9f\x98\x80\"");
    CHECK(json_string("\xff"
                      "a\xc3") ==
          "\"\xef\xbf\xbd"
          "a\xef\xbf\xbd\"");
}

TEST_CASE("base64 pads what is not a multiple of three bytes") {
    CHECK(to_base64("") == "");
    CHECK(to_base64("f") == "Zg==");
    CHECK(to_base64("fo") == "Zm8=");
    CHECK(to_base64("foo") == "Zm9v");
    CHECK(to_base64("foob") == "Zm9vYg==");
    CHECK(to_base64("\xfb\xff\xfe") == "+//+");
}

TEST_CASE("whatever a header holds, JSON in UTF-8 comes out") {
    samples::Chance chance(5);
    constexpr std::string_view letters = "tbBsuIilLfdDSxTAFV?";
    for (int i = 0; i < 4000; ++i) {
        samples::Header header = chance.header();
        if (chance.coin()) header.bytes = chance.damaged(header.bytes);
        if (chance.below(4) == 0) header.type = letters[chance.below(letters.size())];
        const std::string text = json(header.type, header.bytes);
        INFO(text);
        REQUIRE(samples::JsonReader::is_json(text));
        REQUIRE(is_utf8(text));
        const std::string string = json_string(chance.bytes(40));
        REQUIRE(samples::JsonReader::is_json(string));
        REQUIRE(is_utf8(string));
    }
}
