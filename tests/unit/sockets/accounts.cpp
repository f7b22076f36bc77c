#include "sockets/accounts.hpp"

#include <catch2/catch.hpp>

using namespace retryd::sockets;

TEST_CASE("users and groups are known by name and by number") {
    CHECK(user_id("root").value() == 0);
    CHECK(group_id("root").value() == 0);
    CHECK(user_id("4242").value() == 4242);
    CHECK(group_id("4242").value() == 4242);
}

TEST_CASE("what is no name and no number is refused") {
    for (const auto* text : {"", "nobody-of-this-name", "-1", "4294967295", "99999999999", "12x"}) {
        CAPTURE(text);
        CHECK(!user_id(text));
        CHECK(!group_id(text));
    }
}
