#include "amqp/settle.hpp"

#include <catch2/catch.hpp>

#include <limits>
#include <random>
#include <set>
#include <vector>

using retryd::amqp::Ack;
using retryd::amqp::AckCoalescer;

namespace {

AckCoalescer with_deliveries(std::uint64_t count) {
    AckCoalescer acks;
    for (std::uint64_t tag = 1; tag <= count; ++tag) REQUIRE(acks.delivered(tag));
    return acks;
}

struct Case {
    std::uint64_t delivered;
    std::vector<std::uint64_t> acked;
    std::vector<Ack> sent;
};

}  // namespace

TEST_CASE("settled deliveries become as few acks as possible") {
    const Case cases[] = {
        {3, {}, {}},
        {3, {1}, {{1, false}}},
        {3, {1, 2}, {{2, true}}},
        {3, {2, 1}, {{2, true}}},
        {3, {3, 1, 2}, {{3, true}}},
        {3, {2}, {{2, false}}},
        {3, {2, 3}, {{2, false}, {3, false}}},
        {4, {1, 2, 4}, {{2, true}, {4, false}}},
        {5, {5, 3, 1}, {{1, false}, {5, false}, {3, false}}},
    };
    for (const Case& one : cases) {
        AckCoalescer acks = with_deliveries(one.delivered);
        for (const std::uint64_t tag : one.acked) CHECK(acks.acked(tag));
        CHECK(acks.pending() == one.acked.size());
        CHECK(acks.take() == one.sent);
        CHECK(acks.pending() == 0);
        CHECK(acks.take().empty());
    }
}

TEST_CASE("a run continues over what was settled before") {
    AckCoalescer acks = with_deliveries(4);
    (void)acks.acked(2);
    CHECK(acks.take() == std::vector<Ack>{{2, false}});
    (void)acks.acked(3);
    (void)acks.acked(1);
    CHECK(acks.take() == std::vector<Ack>{{3, true}});
    (void)acks.acked(4);
    CHECK(acks.take() == std::vector<Ack>{{4, false}});
}

TEST_CASE("what lies behind an open delivery can wait for it") {
    AckCoalescer acks = with_deliveries(5);
    (void)acks.acked(2);
    (void)acks.acked(4);
    CHECK_FALSE(acks.take_front());
    CHECK(acks.pending() == 2);
    (void)acks.acked(1);
    CHECK(acks.take_front() == Ack{2, true});
    CHECK(acks.pending() == 1);
    CHECK_FALSE(acks.take_front());
    (void)acks.acked(3);
    CHECK(acks.take_front() == Ack{4, true});
    (void)acks.acked(5);
    CHECK(acks.take_front() == Ack{5, false});
    CHECK_FALSE(acks.take_front());
    CHECK(acks.take().empty());
}

TEST_CASE("what was given back is never acked by a run over it") {
    AckCoalescer acks = with_deliveries(3);
    CHECK(acks.nacked(2));
    (void)acks.acked(1);
    (void)acks.acked(3);
    CHECK(acks.take() == std::vector<Ack>{{3, true}});  // the broker has the nack already: 2 is not open there
}

TEST_CASE("tags that no broker gives are refused and cost no memory") {
    AckCoalescer acks = with_deliveries(3);
    CHECK_FALSE(acks.delivered(3));
    CHECK_FALSE(acks.delivered(1));
    CHECK_FALSE(acks.delivered(0));
    CHECK_FALSE(acks.delivered(std::uint64_t{1} << 40));
    CHECK_FALSE(acks.delivered(std::numeric_limits<std::uint64_t>::max()));
    CHECK(acks.delivered(4));
    for (std::uint64_t tag = 1; tag <= 4; ++tag) CHECK(acks.acked(tag));
    CHECK(acks.take() == std::vector<Ack>{{4, true}});
    CHECK_FALSE(acks.delivered(4));  // nor may one come again when all is settled
}

TEST_CASE("a delivery is settled once") {
    AckCoalescer acks = with_deliveries(2);
    CHECK(acks.acked(1));
    CHECK_FALSE(acks.acked(1));
    CHECK_FALSE(acks.nacked(1));
    CHECK(acks.take().size() == 1);
    CHECK_FALSE(acks.acked(1));
    CHECK(acks.nacked(2));
    CHECK_FALSE(acks.acked(2));
    CHECK_FALSE(acks.acked(0));
    CHECK_FALSE(acks.acked(3));
    CHECK(acks.take().empty());
}

TEST_CASE("a delivery that stays open costs nothing for those that are settled after it") {
    AckCoalescer acks;
    CHECK(acks.delivered(1));
    for (std::uint64_t tag = 2; tag <= 100'000; ++tag) {
        CHECK(acks.delivered(tag));
        REQUIRE(acks.acked(tag));
        if (tag % 100 == 0) CHECK(acks.take().size() >= 99);
    }
    CHECK(acks.remembered() == 1);
}

TEST_CASE("any order of settling settles each delivery exactly once at the broker") {
    std::mt19937 random{7};
    for (int round = 0; round < 300; ++round) {
        AckCoalescer acks;
        std::set<std::uint64_t> open;  // at the broker
        std::set<std::uint64_t> wanted;
        std::uint64_t last = 0;
        for (int step = 0; step < 60; ++step) {
            if (random() % 2 == 0) {
                CHECK(acks.delivered(++last));
                open.insert(last);
            } else if (last > 0) {
                const std::uint64_t tag = 1 + random() % last;
                if (acks.acked(tag)) wanted.insert(tag);
            }
            if (random() % 5 != 0) continue;
            const bool all = random() % 2 == 0;
            const auto front = all ? std::nullopt : acks.take_front();
            for (const Ack& ack : all ? acks.take() : std::vector<Ack>(front ? 1 : 0, front.value_or(Ack{}))) {
                for (auto at = ack.multiple ? open.begin() : open.find(ack.tag); at != open.end() && *at <= ack.tag;) {
                    REQUIRE(wanted.contains(*at));
                    wanted.erase(*at);
                    at = open.erase(at);
                }
            }
            REQUIRE(wanted.size() == acks.pending());
            if (!all && !wanted.empty()) REQUIRE(*wanted.begin() > *open.begin());
        }
    }
}
