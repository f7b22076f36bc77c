#include "unit/core/copies_bench.hpp"

using namespace retryd;
using namespace retryd::bench;

TEST_CASE("a queue is made sure of once, before the first copy goes to it") {
    Bench bench;
    bench.add(1);
    bench.add(2);
    CHECK(bench.advance().declare.size() == 1);
    CHECK(bench.actions.publish.empty());
    CHECK(bench.advance().declare.empty());
    bench.copies.declared(lot.name, true, bench.now);
    CHECK(bench.advance().publish.size() == 2);
    bench.add(3);
    CHECK(bench.advance().publish.size() == 1);
    CHECK(bench.actions.declare.empty());
}

TEST_CASE("a confirm ends a copy, once") {
    Bench bench;
    const auto number = bench.publish(7);
    const auto done = bench.copies.confirmed(number);
    REQUIRE(done);
    CHECK(done->delivery == DeliveryKey{7});
    CHECK_FALSE(bench.copies.confirmed(number));
    CHECK(bench.copies.size() == 0);
}

TEST_CASE("a returned copy has its queue declared and goes again once; then it is unroutable and tried slowly") {
    Bench bench;
    bench.copies.returned(bench.publish(1), bench.now);
    CHECK(bench.advance().declare.size() == 1);
    CHECK_FALSE(bench.copies.is_unroutable({1}));
    bench.copies.declared(lot.name, true, bench.now);
    REQUIRE(bench.advance().publish.size() == 1);
    bench.copies.returned(bench.actions.publish[0].number, bench.now);
    CHECK(bench.copies.is_unroutable({1}));
    CHECK(bench.advance().declare.empty());
    CHECK(bench.copies.next() - bench.now >= 1s);
    bench.now = bench.copies.next();
    CHECK(bench.advance().declare.size() == 1);
    CHECK(bench.copies.size() == 1);
}

TEST_CASE("a queue that can't be declared makes its copies unroutable until it can") {
    Bench bench;
    bench.add(1);
    bench.advance();
    bench.copies.declared(lot.name, false, bench.now);
    CHECK(bench.copies.is_unroutable({1}));
    CHECK(bench.advance().declare.empty());
    bench.now = bench.copies.next();
    CHECK(bench.advance().declare.size() == 1);
    bench.copies.declared(lot.name, true, bench.now);
    CHECK(bench.advance().publish.size() == 1);
}

TEST_CASE("at most 256 copies or 16 MiB are unconfirmed, a larger copy goes alone") {
    Bench bench;
    const auto first = bench.publish(1, 10);
    for (std::uint64_t key = 2; key <= 300; ++key) bench.add(key, 10);
    CHECK(bench.advance().publish.size() == 255);
    (void)bench.copies.confirmed(first);
    CHECK(bench.advance().publish.size() == 1);

    Bench big;
    const auto small = big.publish(1, 1000);
    big.add(2, 20 * 1024 * 1024);
    big.add(3, 1000);
    CHECK(big.advance().publish.empty());
    (void)big.copies.confirmed(small);
    REQUIRE(big.advance().publish.size() == 1);
    (void)big.copies.confirmed(big.actions.publish[0].number);
    CHECK(big.advance().publish.size() == 1);
}

TEST_CASE("no confirm is late during an alarm") {
    Bench bench;
    bench.publish(1);
    bench.copies.blocked(true, bench.now);
    bench.now += 1h;
    CHECK_FALSE(bench.copies.late_since(bench.now));
    bench.copies.blocked(false, bench.now);
    CHECK_FALSE(bench.copies.late_since(bench.now));
}
