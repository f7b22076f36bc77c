#include "core/intake.hpp"

#include <catch2/catch.hpp>

using retryd::core::Intake;
using namespace std::chrono_literals;
using Step = Intake::Step;
using retryd::model::SteadyTime;

namespace {

constexpr SteadyTime start{1h};

Intake subscribed_intake(std::uint32_t prefetch) {
    Intake intake(false);
    (void)intake.next_step(prefetch, start);
    intake.looked_up(true, start, 0);
    (void)intake.next_step(prefetch, start);
    intake.subscribed(start);
    return intake;
}

}  // namespace

TEST_CASE("a queue is looked up, then subscribed to, one step at a time") {
    Intake intake(false);
    CHECK(intake.next_step(10, start) == Step::look_up);
    CHECK_FALSE(intake.next_step(10, start));
    intake.looked_up(true, start, 0);
    CHECK(intake.next_step(10, start) == Step::subscribe);
    CHECK_FALSE(intake.next_step(10, start));
    intake.subscribed(start);
    CHECK_FALSE(intake.next_step(10, start));
    CHECK(intake.is_subscribed());
}

TEST_CASE("nothing wanted: looked up all the same, but not subscribed to") {
    Intake intake(false);
    CHECK(intake.next_step(0, start) == Step::look_up);
    intake.looked_up(true, start, 0);
    CHECK_FALSE(intake.next_step(0, start));
    CHECK(intake.is_known());
    CHECK(intake.is_quiet());
}

TEST_CASE("a missing queue that is not ours is waited for, ever more slowly") {
    Intake intake(false);
    auto now = start;
    std::vector<std::int64_t> gaps;
    for (int i = 0; i < 6; ++i) {
        REQUIRE(intake.next_step(10, now) == Step::look_up);
        intake.looked_up(false, now, ~0ULL);
        CHECK(intake.is_missing());
        CHECK_FALSE(intake.next_step(10, now));
        gaps.push_back(std::chrono::duration_cast<std::chrono::milliseconds>(intake.next() - now).count());
        now = intake.next();
    }
    CHECK(gaps == std::vector<std::int64_t>{499, 999, 1999, 3999, 4999, 4999});
    CHECK(intake.since() == start);
    REQUIRE(intake.next_step(10, now) == Step::look_up);
    intake.looked_up(true, now, 0);
    CHECK_FALSE(intake.is_missing());
    CHECK(intake.next_step(10, now) == Step::subscribe);
}

TEST_CASE("a missing queue that is ours is declared") {
    Intake intake(true);
    (void)intake.next_step(10, start);
    intake.looked_up(false, start, 0);
    CHECK(intake.next_step(10, start) == Step::declare);
    intake.declared(true, start, 0);
    CHECK_FALSE(intake.is_missing());
    CHECK(intake.next_step(10, start) == Step::subscribe);
}

TEST_CASE("a declaration that is refused is tried again later") {
    Intake intake(true);
    (void)intake.next_step(10, start);
    intake.looked_up(false, start, 0);
    (void)intake.next_step(10, start);
    intake.declared(false, start, 0);
    CHECK(intake.is_missing());
    CHECK_FALSE(intake.next_step(10, start));
    CHECK(intake.next_step(10, intake.next()) == Step::look_up);
}

TEST_CASE("wanting less or more renews the subscription, wanting nothing ends it") {
    auto intake = subscribed_intake(1);
    CHECK(intake.next_step(128, start) == Step::unsubscribe);
    intake.unsubscribed();
    CHECK(intake.next_step(128, start) == Step::subscribe);
    intake.subscribed(start);
    CHECK(intake.next_step(0, start) == Step::unsubscribe);
    intake.unsubscribed();
    CHECK_FALSE(intake.next_step(0, start));
}

TEST_CASE("a subscription that the broker takes is looked up and taken again") {
    auto intake = subscribed_intake(10);
    intake.cancelled(start);
    CHECK(intake.was_lost());
    CHECK(intake.next_step(10, start) == Step::look_up);
    intake.looked_up(true, start, 0);
    (void)intake.next_step(10, start);
    intake.subscribed(start);
    CHECK_FALSE(intake.was_lost());
}

TEST_CASE("a channel that the broker closes again and again is not opened at speed") {
    auto intake = subscribed_intake(10);
    intake.closed(start, 0);
    CHECK_FALSE(intake.next_step(10, start));
    CHECK(intake.next() > start);
    CHECK(intake.next_step(10, intake.next()) == Step::look_up);
}

TEST_CASE("after a lost link everything begins anew, at once") {
    auto intake = subscribed_intake(10);
    intake.link_down();
    CHECK_FALSE(intake.is_subscribed());
    CHECK(intake.next() == SteadyTime::max());
    CHECK(intake.next_step(10, start) == Step::look_up);
}

TEST_CASE("an answer that crosses the closing of the channel changes nothing") {
    auto intake = subscribed_intake(10);
    CHECK(intake.next_step(0, start) == Step::unsubscribe);
    intake.closed(start, 0);
    intake.unsubscribed();
    CHECK_FALSE(intake.next_step(0, start));
    CHECK(intake.next() > start);
    CHECK(intake.next_step(0, intake.next()) == Step::look_up);
}

TEST_CASE("an answer to an earlier step, late, is not taken for the one that is awaited") {
    auto intake = subscribed_intake(10);
    REQUIRE(intake.next_step(0, start) == Step::unsubscribe);
    intake.cancelled(start);  // by the broker, which crossed it
    REQUIRE(intake.next_step(10, start) == Step::look_up);
    intake.unsubscribed();
    CHECK_FALSE(intake.next_step(10, start));  // or there would be two subscriptions
    intake.looked_up(true, start, 0);
    CHECK(intake.next_step(10, start) == Step::subscribe);
}

TEST_CASE("a doubted subscription is ended, its queue looked up, and another one taken") {
    auto intake = subscribed_intake(10);
    intake.doubted(start + 1s);
    CHECK(intake.was_lost());
    CHECK(intake.since() == start + 1s);
    REQUIRE(intake.next_step(10, start) == Step::unsubscribe);
    CHECK(intake.awaits_broker());
    intake.unsubscribed();
    REQUIRE(intake.next_step(10, start) == Step::look_up);
    CHECK_FALSE(intake.awaits_broker());
    intake.looked_up(true, start, 0);
    REQUIRE(intake.next_step(10, start) == Step::subscribe);
    CHECK(intake.awaits_broker());
    intake.subscribed(start + 2s);
    CHECK_FALSE(intake.was_lost());
    CHECK(intake.subscribed_since() == start + 2s);
    CHECK_FALSE(intake.next_step(10, start));
}

TEST_CASE("a lost subscription that nobody wants any more is not missed") {
    auto intake = subscribed_intake(10);
    intake.cancelled(start);
    (void)intake.next_step(0, start);
    intake.looked_up(true, start, 0);
    CHECK_FALSE(intake.next_step(0, start));
    CHECK_FALSE(intake.was_lost());
}

TEST_CASE("a subscription that crosses the closing of the channel is there, and no second one is taken") {
    auto intake = subscribed_intake(10);
    REQUIRE(intake.next_step(20, start) == Step::unsubscribe);
    intake.unsubscribed();
    REQUIRE(intake.next_step(20, start) == Step::subscribe);
    intake.closed(start, 0);  // the channel of before
    REQUIRE(intake.next_step(20, intake.next()) == Step::look_up);
    intake.subscribed(start + 1s);
    intake.looked_up(true, start + 1s, 0);
    CHECK(intake.is_subscribed());
    CHECK_FALSE(intake.next_step(20, start + 1s));
}
