#include "model/policy.hpp"

#include <catch2/catch.hpp>

using namespace retryd::model;

TEST_CASE("a broker's address is shown with user and host and never with the password") {
    CHECK(to_text(BrokerAddress{"rabbit", 5673, "/", "svc", "se$cret"}) == "svc@rabbit:5673//");
    CHECK(to_text(BrokerAddress{"::1", 5672, "shop", "svc", "se$cret"}) == "svc@[::1]:5672/shop");
}
