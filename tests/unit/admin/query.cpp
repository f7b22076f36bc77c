#include "admin/query.hpp"

#include <catch2/catch.hpp>

using namespace retryd::admin;

TEST_CASE("a parameter is found by its name and decoded") {
    CHECK(parameter("/why?id=17", "id") == "17");
    CHECK(parameter("/why?queue=a&id=17&id=18", "id") == "17");
    CHECK(parameter("/why?id=a%20b%2Fc%00+", "id") == std::string("a b/c\0+", 7));
    CHECK(parameter("/why?id=", "id") == "");
    CHECK(parameter("/why?id=a=b", "id") == "a=b");
}

TEST_CASE("a parameter that is absent or torn is none") {
    for (const auto* target :
         {"/why", "/why?", "/why?id", "/why?ids=1", "/why?id=%", "/why?id=%4", "/why?id=%zz", "/why?id=%-1"}) {
        CAPTURE(target);
        CHECK(parameter(target, "id") == std::nullopt);
    }
}

TEST_CASE("what is encoded comes back as it was") {
    std::string all;
    for (int byte = 0; byte < 256; ++byte) all += static_cast<char>(byte);
    CHECK(parameter("/why?id=" + encoded(all), "id") == all);
    CHECK(encoded("orders.eu-1_~") == "orders.eu-1_~");
}
