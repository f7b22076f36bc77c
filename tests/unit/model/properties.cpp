#include "model/properties.hpp"
#include "unit/model/samples.hpp"

#include <catch2/catch.hpp>

using namespace retryd::model;
using namespace std::string_view_literals;

namespace {

Properties all_fourteen() {
    Properties p;
    p.content_type = "text/plain";
    p.content_encoding = "gzip";
    p.headers =
        "\x01k"
        "V"sv;
    p.delivery_mode = 1;
    p.priority = 7;
    p.correlation_id = "c";
    p.reply_to = "r";
    p.expiration = "60000";
    p.message_id = "m";
    p.timestamp = 1700000000;
    p.type = "t";
    p.user_id = "u";
    p.app_id = "a";
    p.cluster_id = "cl";
    return p;
}

}  // namespace

TEST_CASE("no property at all is two zero bytes") {
    CHECK(write_properties({}) == "\0\0"sv);
    CHECK(read_properties("\0\0"sv).value() == Properties{});
}

TEST_CASE("the bytes are those of the protocol") {
    Properties p;
    p.content_type = "a";
    p.delivery_mode = 2;
    p.timestamp = 258;
    CHECK(write_properties(p) ==
          "\x90\x40\x01"
          "a\x02\0\0\0\0\0\0\x01\x02"sv);
}

TEST_CASE("all fourteen come back") {
    const std::string bytes = write_properties(all_fourteen());
    CHECK(read_properties(bytes).value() == all_fourteen());
}

TEST_CASE("absent stays absent and empty stays empty") {
    Properties p;
    p.reply_to = "";
    p.headers = "";
    const std::string bytes = write_properties(p);
    const Properties read = read_properties(bytes).value();
    CHECK(read == p);
    CHECK(read.reply_to.has_value());
    CHECK_FALSE(read.message_id.has_value());
}

TEST_CASE("what was read is written byte for byte, whatever was present") {
    samples::Chance chance(1);
    for (int i = 0; i < 2000; ++i) {
        const std::string bytes = samples::random_properties(chance, samples::table(chance.headers(5)));
        const auto properties = read_properties(bytes);
        REQUIRE(properties.has_value());
        REQUIRE(write_properties(*properties) == bytes);
    }
}

TEST_CASE("properties cut off anywhere are refused, and so are bytes left over") {
    const std::string bytes = write_properties(all_fourteen());
    for (std::size_t size = 0; size < bytes.size(); ++size) {
        INFO("cut to " << size);
        CHECK(read_properties(std::string_view(bytes).substr(0, size)).has_error());
    }
    CHECK(read_properties(bytes + "x").has_error());
}

TEST_CASE("a second flag word is refused, and the flag that no property has says nothing") {
    CHECK(read_properties("\0\x01\0\0"sv).has_error());
    const auto reserved = read_properties("\x10\x02\x02"sv);
    REQUIRE(reserved.has_value());
    CHECK(reserved->delivery_mode == 2);
    CHECK(write_properties(*reserved) == "\x10\0\x02"sv);
}

TEST_CASE("a headers length that runs past the end is taken at its word by nobody") {
    CHECK(read_properties("\x20\0\xff\xff\xff\xff"sv).has_error());
}

TEST_CASE("any bytes are read as properties or refused") {
    samples::Chance chance(2);
    for (int i = 0; i < 5000; ++i) {
        const std::string whole = samples::random_properties(chance, samples::table(chance.headers(3)));
        const std::string bytes = chance.coin() ? chance.damaged(whole) : chance.bytes(40);
        const auto properties = read_properties(bytes);
        if (!properties) continue;
        std::string said = bytes;
        said[1] = static_cast<char>(said[1] & ~2);  // no property has this flag
        REQUIRE(write_properties(*properties) == said);
    }
}
