#include "model/content_hash.hpp"

#include "samples.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <set>

using namespace retryd::model;
using namespace samples;

namespace {

constexpr Source work{{0}, Side::work};
constexpr Source lane{{0}, Side::lane};
const Arrival arrival{"ex", "key", false};

Message message(const std::vector<Header>& headers, std::string body = "body") {
    const auto bytes = table(headers);
    Properties properties;
    properties.delivery_mode = 2;
    properties.message_id = "m";
    properties.headers = bytes;
    return {write_properties(properties), std::move(body)};
}

ContentHash hash(const Message& message, const Source& source = work, const Arrival& by = arrival) {
    const auto hash = content_hash(source, by, message);
    REQUIRE(hash);
    return *hash;
}

}  // namespace

TEST_CASE("what the broker changes when it delivers again changes no content") {
    const auto first = every_kind();
    auto again = first;
    again.push_back(number("x-delivery-count", 3));
    std::stable_sort(again.begin(), again.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
    CHECK(hash(message(first)) == hash(message(again)));
    CHECK(hash(message(first), work, {"ex", "key", true}) == hash(message(first)));
    again.push_back(number("x-acquired-count", 1));
    again.push_back({"x-death", 'A', sized("")});
    CHECK(hash(message(first)) == hash(message(again)));
}

TEST_CASE("no header table, an empty one and one with the broker's own headers are alike") {
    const Message none{write_properties({}), "body"};
    Properties with;
    with.headers = "";
    CHECK(hash(none) == hash({write_properties(with), "body"}));
    const auto counted = table({number("x-delivery-count", 1)});
    with.headers = counted;
    CHECK(hash(none) == hash({write_properties(with), "body"}));
}

TEST_CASE("whatever else differs makes another content") {
    const auto plain = message({text("a", "1"), text("b", "2")});
    std::set<ContentHash> seen{hash(plain)};
    const auto is_new = [&](const ContentHash& hash) { return seen.insert(hash).second; };
    CHECK(is_new(hash(message({text("a", "1"), text("b", "2")}, "other"))));
    CHECK(is_new(hash(message({text("a", "1"), text("b", "3")}))));
    CHECK(is_new(hash(message({text("a", "1"), {"b", 'x', sized("2")}}))));
    CHECK(is_new(hash(message({text("a", "1")}))));
    CHECK(is_new(hash(message({text("a", "1"), text("b", "2"), number("retryd-attempts", 1)}))));
    CHECK(is_new(hash(message({text("b", "2"), text("b", "1")}))));
    CHECK(is_new(hash(message({text("b", "1"), text("b", "2")}))));  // of one name the order counts
    CHECK(is_new(hash(plain, lane)));
    CHECK(is_new(hash(plain, {{1}, Side::work})));
    CHECK(is_new(hash(plain, work, {"ex", "another", false})));
    CHECK(is_new(hash(plain, work, {"another", "key", false})));
    CHECK(is_new(hash(plain, work, {"exk", "ey", false})));  // the same letters, parted elsewhere
    CHECK(is_new(hash({write_properties({}), "body"})));
}

TEST_CASE("what came by the lane has its route in its headers, and the route of the hop says nothing") {
    const auto plain = message({text("a", "1")});
    CHECK(hash(plain, lane, {"", "retryd.orders.lane", true}) == hash(plain, lane, {"ex", "key", false}));
}

TEST_CASE("bytes that cannot be read are content too") {
    const Message bad{"\xff", "body"};
    const Message worse{"\xfe", "body"};
    CHECK(hash(bad) == hash(bad));
    CHECK(hash(bad) != hash(worse));
    Properties with;
    with.headers = "\x05";
    CHECK(hash({write_properties(with), "body"}) != hash({write_properties({}), "body"}));
}
