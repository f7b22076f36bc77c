#include "core/matching.hpp"

#include <catch2/catch.hpp>

using namespace retryd;

namespace {

model::Pattern pattern(const char* text) {
    return *model::Pattern::parse(text);
}

}  // namespace

TEST_CASE("a message needs what its queue needs, and what its own properties ask for") {
    model::QueuePolicy policy;
    CHECK(core::needs_of(policy, {}, "") == 0);
    policy.needs = {{3, {}}};
    CHECK(core::needs_of(policy, {}, "") == 0b1000);
    model::MessageMatch by_header, by_both;
    by_header.header = {{"x-provider", {pattern("fx-*")}}};
    by_both.type = {pattern("invoice")};
    by_both.routing_key = {pattern("orders.*")};
    policy.needs.push_back({0, by_header});
    policy.needs.push_back({63, by_both});
    constexpr auto last = std::uint64_t{1} << 63U;

    model::TableWriter table;
    table.add_string("x-provider", "fx-eur");
    const auto headers = table.bytes();
    model::Properties shown;
    CHECK(core::needs_of(policy, shown, "orders.new") == 0b1000);
    shown.type = "invoice";
    CHECK(core::needs_of(policy, shown, "orders.new") == (0b1000 | last));
    CHECK(core::needs_of(policy, shown, "bills") == 0b1000);
    shown.headers = headers;
    CHECK(core::needs_of(policy, shown, "bills") == 0b1001);
    shown.headers = "not a table";
    CHECK(core::needs_of(policy, shown, "bills") == 0b1000);
}
