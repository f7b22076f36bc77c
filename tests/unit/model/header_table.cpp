#include "model/header_table.hpp"
#include "unit/model/samples.hpp"

#include <catch2/catch.hpp>

using namespace retryd::model;
using namespace std::string_view_literals;
using samples::sized;

TEST_CASE("every kind of header survives with its letter, its bytes and its place, a name held twice too") {
    const auto headers = samples::every_kind();
    CHECK(samples::headers_of(samples::table(headers)) == headers);
}

TEST_CASE("an empty table has no headers and a nested one is stepped over") {
    CHECK(read_table("").value().empty());
    constexpr std::size_t levels = 18000;
    constexpr std::size_t level_size = 7;  // name, letter, length
    std::string deep;
    for (std::size_t left = levels; left-- > 0;) deep += "\x01tF" + samples::big_endian(left * level_size, 4);
    REQUIRE(read_table(deep).value().size() == 1);
}

TEST_CASE("integers of every width and sign, and timestamps, are numbers") {
    struct Row {
        char type;
        std::string bytes;
        std::optional<std::int64_t> value;
    };
    using samples::big_endian;
    const Row rows[] = {
        {'b', "\xfb", -5},
        {'B', "\xfa", 250},
        {'s', big_endian(65536 - 300, 2), -300},
        {'u', big_endian(65000, 2), 65000},
        {'I', big_endian(4294967296 - 70000, 4), -70000},
        {'i', big_endian(4000000000, 4), 4000000000},
        {'l', big_endian(~std::uint64_t{0}, 8), -1},
        {'L', big_endian(5, 8), 5},
        {'L', big_endian(~std::uint64_t{0}, 8), std::nullopt},
        {'T', big_endian(1700000000, 8), 1700000000},
        {'T', big_endian(~std::uint64_t{0}, 8), std::nullopt},
        {'t', "\x01", std::nullopt},
        {'d', big_endian(0, 8), std::nullopt},
        {'S', sized("5"), std::nullopt},
        {'l', "short", std::nullopt},
        {'?', "", std::nullopt},
    };
    for (const Row& row : rows) {
        INFO(row.type);
        CHECK(integer({row.type, row.bytes}) == row.value);
    }
}

TEST_CASE("only strings, byte strings, arrays and tables have content") {
    for (const char type : {'S', 'x', 'A', 'F'}) {
        const std::string bytes = sized("in");
        CHECK(content({type, bytes}) == "in"sv);
    }
    CHECK_FALSE(content({'l', "\0\0\0\0\0\0\0\x01"sv}));
    CHECK_FALSE(content({'S', "\0"sv}));
}

TEST_CASE("a broken table is refused") {
    const std::string_view rows[] = {
        "\x05k"sv,         // the name runs past the end
        "\x01k"sv,         // no type
        "\x01kZ"sv,        // a letter that nobody knows
        "\x01kl\0\0\0"sv,  // a number cut off
        "\x01kS\0\0"sv,    // a length cut off
        "\x01kS\0\0\0\x02"
        "a"sv,                       // a string cut off
        "\x01kF\xff\xff\xff\xff"sv,  // four bytes that promise 4 GiB
        "\x01kV\x01"sv,              // something begins after the last header
    };
    for (const std::string_view row : rows) {
        INFO(row.size() << " bytes");
        CHECK(read_table(row).has_error());
    }
    CHECK(read_array("Sxx").has_error());
    CHECK(read_array("?").has_error());
}

TEST_CASE("the first of two headers of one name is found, and a missing one is nothing") {
    const std::string bytes = samples::table({samples::number("a", 1), samples::number("b", 2), samples::number("b", 3)});
    const auto headers = read_table(bytes).value();
    REQUIRE(find_header(headers, "b") == &headers[1]);
    CHECK(find_header(headers, "B") == nullptr);
}

TEST_CASE("what the writer writes reads back") {
    std::string array;
    append_table_value(array, samples::table({samples::text("in", "side")}));
    TableWriter writer;
    CHECK(writer.empty());
    writer.add_string("s", "text");
    writer.add_bytes("x", "raw");
    writer.add_long("l", -7);
    writer.add_table("t", samples::table({samples::number("n", 1)}));
    writer.add_array("a", array);

    const auto headers = read_table(writer.bytes()).value();
    REQUIRE(headers.size() == 5);
    CHECK(content(headers[0].value) == "text"sv);
    CHECK(headers[1].value.type == 'x');
    CHECK(content(headers[1].value) == "raw"sv);
    CHECK(integer(headers[2].value) == -7);
    CHECK(read_table(*content(headers[3].value)).value().front().name == "n");
    const auto values = read_array(*content(headers[4].value)).value();
    REQUIRE(values.size() == 1);
    CHECK(read_table(*content(values[0])).value().front().name == "in");
}

TEST_CASE("a random table is carried entry by entry without a change") {
    samples::Chance chance(3);
    for (int i = 0; i < 3000; ++i) {
        const auto headers = chance.headers(8);
        const std::string bytes = samples::table(headers);
        REQUIRE(samples::headers_of(bytes) == headers);
        REQUIRE(samples::table(samples::headers_of(bytes)) == bytes);
    }
}

TEST_CASE("any bytes are read as a table or refused") {
    samples::Chance chance(4);
    for (int i = 0; i < 20000; ++i) {
        const std::string bytes = chance.coin() ? chance.damaged(samples::table(chance.headers(4))) : chance.bytes(60);
        if (read_table(bytes)) REQUIRE(samples::table(samples::headers_of(bytes)) == bytes);
        (void)read_array(bytes);
    }
}
