#include "engine/line_limiter.hpp"

#include <catch2/catch.hpp>

using namespace retryd;
using namespace retryd::engine;
using namespace std::chrono_literals;

namespace {

constexpr model::SteadyTime start{1h};

}  // namespace

TEST_CASE("the first of equal lines is written, and one in each interval") {
    LineLimiter limiter;
    CHECK(limiter.admit("a", "", start));
    CHECK_FALSE(limiter.admit("a", "", start));
    CHECK_FALSE(limiter.admit("a", "", start + 9999ms));
    CHECK(limiter.admit("a", "", start + 10s));
    CHECK_FALSE(limiter.admit("a", "", start + 11s));
    CHECK(limiter.admit("b", "", start + 11s));
}

TEST_CASE("of some lines a few may be equal in each interval") {
    LineLimiter limiter;
    for (int i = 0; i < 3; ++i) CHECK(limiter.admit("a", "", start + 1s * i, 3));
    CHECK_FALSE(limiter.admit("a", "", start + 3s, 3));
    for (int i = 0; i < 3; ++i) CHECK(limiter.admit("a", "", start + 10s, 3));
    CHECK_FALSE(limiter.admit("a", "", start + 10s, 3));
}

TEST_CASE("while nothing was left out there is nothing to sum up") {
    LineLimiter limiter;
    CHECK(limiter.admit("a", "", start));
    CHECK(limiter.next() == model::SteadyTime::max());
    CHECK_FALSE(limiter.take_sum(start + 1h));
}

TEST_CASE("what was left out is summed up once, ten seconds after the first of it") {
    LineLimiter limiter;
    for (const auto* key : {"a", "b", "c"}) CHECK(limiter.admit(key, "", start));
    for (int i = 0; i < 5; ++i) CHECK_FALSE(limiter.admit("b", "", start + 1s));
    for (int i = 0; i < 3; ++i) CHECK_FALSE(limiter.admit("a", "", start + 2s));
    CHECK(limiter.next() == start + 11s);
    CHECK_FALSE(limiter.take_sum(start + 10s));
    const auto sum = limiter.take_sum(start + 11s);
    REQUIRE(sum);
    CHECK(sum->lines == 8);
    CHECK(sum->keys == 2);
    CHECK(sum->most == std::vector<std::pair<std::string, std::uint64_t>>{{"b", 5}, {"a", 3}});
    CHECK(limiter.next() == model::SteadyTime::max());
    CHECK_FALSE(limiter.take_sum(start + 1h));
}

TEST_CASE("at the end the rest is summed up before its time") {
    LineLimiter limiter;
    CHECK(limiter.admit("a", "", start));
    CHECK_FALSE(limiter.take_rest());
    CHECK_FALSE(limiter.admit("a", "", start));
    CHECK(limiter.take_rest()->lines == 1);
    CHECK_FALSE(limiter.take_rest());
}

TEST_CASE("a sum names the most frequent lines only") {
    LineLimiter limiter;
    for (char letter = 'a'; letter <= 'j'; ++letter) {
        CHECK(limiter.admit({letter}, "", start));
        for (char i = 'a'; i <= letter; ++i) CHECK_FALSE(limiter.admit({letter}, "", start));
    }
    const auto sum = limiter.take_sum(start + 10s);
    REQUIRE(sum);
    CHECK(sum->lines == 55);
    CHECK(sum->keys == 10);
    REQUIRE(sum->most.size() == LineLimiter::most_named);
    CHECK(sum->most.front() == std::pair<std::string, std::uint64_t>{"j", 10});
}

TEST_CASE("ever new details of one kind share a line, and do not mute another kind") {
    LineLimiter limiter;
    std::size_t written = 0;
    for (int i = 0; i < 1000; ++i) written += limiter.admit("orders retry", std::to_string(i), start) ? 1 : 0;
    CHECK(written == LineLimiter::most_details + 1);
    CHECK(limiter.admit("payments retry", "1", start));
    const auto sum = limiter.take_sum(start + 10s);
    REQUIRE(sum);
    CHECK(sum->lines == 1000 - written);
    CHECK(sum->most.front().first == "orders retry (others)");
    CHECK(limiter.admit("orders retry", "later", start + 10s));
}

TEST_CASE("ever new kinds are bounded: beyond the places they are counted") {
    LineLimiter limiter;
    std::size_t written = 0;
    for (std::size_t i = 0; i < 2 * LineLimiter::most_keys; ++i) written += limiter.admit(std::to_string(i), "", start) ? 1 : 0;
    CHECK(written == LineLimiter::most_keys);
    CHECK(limiter.take_sum(start + 10s)->lines == LineLimiter::most_keys);
    CHECK(limiter.admit("later", "", start + 10s));  // the old ones have made room
}
