#include "unit/core/copies_bench.hpp"

#include <random>
#include <set>
#include <utility>

using namespace retryd;
using namespace retryd::bench;

TEST_CASE("while the link is down nothing is asked") {
    Bench bench;
    bench.copies.link_down(bench.now);
    bench.add(1);
    CHECK(bench.advance().declare.empty());
    bench.copies.link_up();
    CHECK(bench.advance().declare.size() == 1);
}

TEST_CASE("a nacked copy goes again after a second, growing to thirty") {
    Bench bench;
    auto number = bench.publish(1);
    std::vector<std::int64_t> pauses;
    for (int i = 0; i < 7; ++i) {
        bench.copies.nacked(number, bench.now, ~0ULL);
        pauses.push_back(std::chrono::duration_cast<std::chrono::milliseconds>(bench.copies.next() - bench.now).count());
        bench.now = bench.copies.next();
        if (bench.advance().renew_link != CopyActions::Renewal::none) {
            bench.copies.link_down(bench.now);
            bench.copies.link_up();
            bench.advance();
        }
        REQUIRE(bench.actions.publish.size() == 1);
        number = bench.actions.publish[0].number;
    }
    CHECK(pauses == std::vector<std::int64_t>{999, 1999, 3999, 7999, 15999, 29999, 29999});
    CHECK(bench.copies.is_unroutable({1}));
    CHECK(bench.copies.trouble({1}) == "refused by the broker");
}

TEST_CASE("nothing is published while the broker blocks, and the time does not count against the confirms") {
    Bench bench;
    bench.publish(1);
    bench.copies.blocked(true, bench.now);
    bench.add(2);
    bench.now += 1h;
    CHECK(bench.advance().publish.empty());
    CHECK(bench.actions.renew_link == CopyActions::Renewal::none);
    bench.copies.blocked(false, bench.now);
    CHECK(bench.advance().publish.size() == 1);
    CHECK(bench.actions.renew_link == CopyActions::Renewal::none);
}

TEST_CASE("a confirm that does not come renews the link, once, and the copy goes again") {
    Bench bench;
    const auto number = bench.publish(1);
    CHECK(bench.copies.next() == bench.now + 30s);
    bench.now += 30s;
    CHECK(bench.advance().renew_link == CopyActions::Renewal::confirm_late);
    CHECK(bench.advance().renew_link == CopyActions::Renewal::none);
    bench.copies.link_down(bench.now);
    bench.copies.link_up();
    REQUIRE(bench.advance().publish.size() == 1);
    CHECK(bench.actions.publish[0].number > number);
    CHECK_FALSE(bench.copies.confirmed(number));  // of the old link
}

TEST_CASE("the copy that closes the channel is found and rests, the others go") {
    Bench bench;
    bench.publish(1);
    for (std::uint64_t key = 2; key <= 5; ++key) bench.add(key);
    bench.advance();
    bench.copies.channel_closed("406 message too big", bench.now);
    std::set<std::uint64_t> done;
    for (int i = 0; i < 20 && bench.copies.size() > 1; ++i) {
        REQUIRE(bench.advance().publish.size() == 1);  // one at a time now
        const auto [delivery, number] = bench.actions.publish[0];
        if (delivery == DeliveryKey{3}) {
            bench.copies.channel_closed("406 message too big", bench.now);
        } else {
            REQUIRE(bench.copies.confirmed(number));
            done.insert(delivery.value);
        }
    }
    CHECK(done == std::set<std::uint64_t>{1, 2, 4, 5});
    CHECK(bench.copies.is_unroutable({3}));
    CHECK(bench.copies.is_resting({3}));
    CHECK(bench.copies.trouble({3}) == "406 message too big");
    CHECK(bench.advance().publish.empty());
    CHECK(bench.copies.forget({3}));
}

TEST_CASE("a copy that closes the channel is tried again, ever more seldom, and goes when the broker takes it") {
    Bench bench;
    bench.publish(1);
    std::vector<std::int64_t> rests;
    for (int i = 0; i < 6; ++i) {
        bench.copies.channel_closed("406 message too big", bench.now);
        rests.push_back(std::chrono::duration_cast<std::chrono::seconds>(bench.copies.next() - bench.now).count());
        bench.now = bench.copies.next();
        REQUIRE(bench.advance().publish.size() == 1);
        CHECK_FALSE(bench.copies.is_resting({1}));
        CHECK(bench.copies.is_unroutable({1}));
    }
    CHECK(rests == std::vector<std::int64_t>{30, 60, 120, 240, 300, 300});
    CHECK(bench.copies.confirmed(bench.actions.publish[0].number));
    CHECK(bench.copies.size() == 0);
}

TEST_CASE("a copy that has rested goes alone") {
    Bench bench;
    bench.publish(1);
    bench.copies.channel_closed("406 message too big", bench.now);
    bench.now += 20s;
    bench.publish(2);
    bench.now += 10s;
    CHECK(bench.advance().publish.empty());  // 2 is still out
    REQUIRE(bench.copies.confirmed(2));
    bench.add(3);
    REQUIRE(bench.advance().publish.size() == 1);
    CHECK(bench.actions.publish[0].delivery == DeliveryKey{1});
}

TEST_CASE("confirms that do not come are named after a third of their time, and until one comes") {
    Bench bench;
    const auto sent = bench.now;
    bench.publish(1);
    bench.now += 9s;
    CHECK_FALSE(bench.copies.late_since(bench.now));
    bench.now += 1s;
    CHECK(bench.copies.late_since(bench.now) == sent);
    bench.now += 20s;
    CHECK(bench.advance().renew_link == CopyActions::Renewal::confirm_late);
    bench.copies.link_down(bench.now);
    CHECK(bench.copies.late_since(bench.now) == sent);
    bench.copies.link_up();
    REQUIRE(bench.advance().publish.size() == 1);
    CHECK(bench.copies.late_since(bench.now) == sent);
    CHECK(bench.copies.confirmed(bench.actions.publish[0].number));
    CHECK_FALSE(bench.copies.late_since(bench.now));
}

TEST_CASE("a copy that takes the link down three times when it is alone rests too") {
    Bench bench;
    bench.publish(1);
    for (int i = 0; i < 3; ++i) {
        bench.copies.link_down(bench.now);
        bench.copies.link_up();
        CHECK(bench.advance().publish.size() == (i < 2 ? 1U : 0U));
    }
    CHECK(bench.copies.is_unroutable({1}));
    CHECK(bench.copies.is_resting({1}));
    bench.now = bench.copies.next();
    CHECK(bench.advance().publish.size() == 1);
}

TEST_CASE("a copy whose original comes again anyway is forgotten, unless it is on its way") {
    Bench bench;
    bench.publish(1);
    bench.add(2);
    CHECK_FALSE(bench.copies.forget({1}));
    CHECK(bench.copies.forget({2}));
    CHECK(bench.advance().publish.empty());
    bench.copies.link_down(bench.now);
    CHECK(bench.copies.forget({1}));
    CHECK(bench.copies.size() == 0);
}

TEST_CASE("whatever happens, every copy is confirmed, forgotten or still known, and none twice") {
    for (std::uint64_t seed = 1; seed <= 300; ++seed) {
        std::mt19937_64 random(seed);
        Bench bench;
        std::vector<std::uint64_t> flying;
        std::set<std::uint64_t> added, done;
        std::uint64_t next_key = 0;
        const auto take = [&] {
            const auto i = random() % flying.size();
            const auto number = flying[i];
            flying.erase(flying.begin() + static_cast<std::ptrdiff_t>(i));
            return number;
        };
        for (int step = 0; step < 300; ++step) {
            switch (random() % 10) {
                case 0:
                case 1:
                case 2: bench.add(++next_key), added.insert(next_key); break;
                case 3: bench.copies.declared(lot.name, random() % 4 != 0, bench.now); break;
                case 4:
                    if (!flying.empty()) bench.copies.nacked(take(), bench.now, random());
                    break;
                case 5:
                    if (!flying.empty()) bench.copies.returned(take(), bench.now);
                    break;
                case 6: bench.copies.channel_closed("x", bench.now), flying.clear(); break;
                case 7: bench.copies.link_down(bench.now), flying.clear(), bench.copies.link_up(); break;
                default:
                    if (!flying.empty()) {
                        const auto confirmed = bench.copies.confirmed(take());
                        REQUIRE(confirmed);
                        REQUIRE(done.insert(confirmed->delivery.value).second);
                    }
            }
            bench.now += 200ms;
            for (const auto& publish : bench.advance().publish) flying.push_back(publish.number);
            CAPTURE(seed, step);
            REQUIRE(flying.size() == bench.copies.in_flight());
            REQUIRE(bench.copies.size() + done.size() == added.size());
        }
    }
}

TEST_CASE("when all are forgotten nothing is published any more, whatever state they were in, and late answers mean nothing") {
    Bench bench;
    const auto in_flight = bench.publish(1);
    const auto nacked = bench.publish(2);
    bench.copies.nacked(nacked, bench.now, 0);
    bench.copies.blocked(true, bench.now);
    bench.add(3);
    bench.advance();
    bench.copies.forget_all();
    bench.copies.blocked(false, bench.now);
    CHECK(bench.copies.size() == 0);
    CHECK(bench.copies.next() == SteadyTime::max());
    bench.now += 1h;
    CHECK(bench.advance().publish.empty());
    CHECK(bench.actions.declare.empty());
    CHECK(bench.actions.renew_link == CopyActions::Renewal::none);
    CHECK_FALSE(bench.copies.confirmed(in_flight));
    bench.copies.link_down(bench.now);
}

TEST_CASE("a queue that only nacks gets a new link after a while, seldom, and never while something is in flight") {
    Bench bench;
    auto number = bench.publish(1);
    std::vector<std::int64_t> renewals;  // seconds after the first nack
    const auto first = bench.now;
    for (int second = 0; second < 700; ++second) {
        bench.copies.nacked(number, bench.now, 0);
        do {
            bench.now += 1s;
            bench.advance();
            if (bench.actions.renew_link != CopyActions::Renewal::none) {
                CHECK(bench.actions.renew_link == CopyActions::Renewal::only_nacks);
                CHECK(bench.copies.in_flight() == 0);
                renewals.push_back((bench.now - first) / 1s);
                bench.copies.link_down(bench.now);
                bench.copies.link_up();
            }
        } while (bench.actions.publish.empty());
        number = bench.actions.publish[0].number;
    }
    REQUIRE(renewals.size() >= 4);
    CHECK(renewals[0] >= 20);
    for (std::size_t i = 1; i < 4; ++i) CHECK(renewals[i] - renewals[i - 1] >= 20 << i);
    CHECK(bench.copies.confirmed(number));
    CHECK(bench.copies.size() == 0);
}

TEST_CASE("a confirm between its nacks is enough for a queue to be trusted") {
    Bench bench;
    for (std::uint64_t key = 1; key < 200; ++key) {
        auto number = bench.publish(key);
        bench.copies.nacked(number, bench.now, 0);
        do bench.now += 1s;
        while (bench.advance().publish.empty());
        CHECK(bench.actions.renew_link == CopyActions::Renewal::none);
        CHECK(bench.copies.confirmed(bench.actions.publish[0].number));
    }
}

TEST_CASE("a queue that left a lone copy without an answer rests with all its copies, and others go on") {
    Bench bench;
    const auto other = model::plain_queue({"other"}, model::QueueType::quorum);
    const auto lose_link = [&] {
        bench.now += 30s;
        REQUIRE(bench.advance().renew_link == CopyActions::Renewal::confirm_late);
        bench.copies.link_down(bench.now);
        bench.copies.link_up();
        bench.advance();
    };
    (void)bench.publish(1);
    bench.add(2);
    CHECK(bench.advance().publish.size() == 1);
    bench.copies.add({3}, other, {1000});
    bench.advance();
    bench.copies.declared(other.name, true, bench.now);
    bench.advance();
    lose_link();  // three in flight: each goes again alone
    REQUIRE(bench.actions.publish.size() == 1);
    CHECK(bench.actions.publish[0].delivery == DeliveryKey{1});
    lose_link();  // one alone: its queue is silent
    REQUIRE(bench.actions.publish.size() == 1);
    CHECK(bench.actions.publish[0].delivery == DeliveryKey{3});
    CHECK(bench.copies.confirmed(bench.actions.publish[0].number));
    for (const auto key : {1, 2}) {
        CHECK(bench.copies.is_resting({static_cast<std::uint64_t>(key)}));
        CHECK(bench.copies.trouble({static_cast<std::uint64_t>(key)}) == "its queue confirms nothing");
    }
    bench.add(4);  // a new one waits as well
    CHECK(bench.advance().publish.empty());

    SECTION("and when it confirms all its copies go") {
        bench.now = bench.copies.next();
        std::set<std::uint64_t> gone;
        while (!bench.advance().publish.empty()) {
            for (const auto& publish : std::exchange(bench.actions.publish, {}))
                gone.insert(bench.copies.confirmed(publish.number)->delivery.value);
        }
        CHECK(gone == std::set<std::uint64_t>{1, 2, 4});
    }
    SECTION("it rests longer each time, at most 5 min") {
        for (const auto rest : {30s, 60s, 120s, 240s, 300s, 300s}) {
            CHECK(bench.copies.next() - bench.now == rest);
            bench.now = bench.copies.next();
            REQUIRE(bench.advance().publish.size() == 1);
            lose_link();
            CHECK(bench.actions.publish.empty());
        }
    }
}
