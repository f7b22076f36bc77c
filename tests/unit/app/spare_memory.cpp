#include "app/spare_memory.hpp"

#include <catch2/catch.hpp>

using retryd::app::SpareMemory;

namespace {

constexpr std::uint64_t mib = 1024 * 1024;

}  // namespace

TEST_CASE("memory is given back when a rush is over, once, and not for a trifle") {
    int given = 0;
    SpareMemory memory([&] { ++given; });
    memory.in_hand(15 * mib);
    memory.in_hand(0);
    CHECK(given == 0);
    memory.in_hand(200 * mib);
    memory.in_hand(51 * mib);
    CHECK(given == 0);
    memory.in_hand(50 * mib);
    CHECK(given == 1);
    memory.in_hand(13 * mib);
    CHECK(given == 1);
    memory.in_hand(12 * mib);
    CHECK(given == 2);
    memory.in_hand(0);
    CHECK(given == 2);
}
