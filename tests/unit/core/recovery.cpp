#include "core/recovery.hpp"

#include <catch2/catch.hpp>

using namespace retryd;
using namespace std::chrono_literals;
using core::Recovery;
using model::SteadyTime;

namespace {

constexpr SteadyTime start{1h};
const model::RecoverPolicy policy;

// So many successes a second, for so long.
SteadyTime work(Recovery& recovery, SteadyTime now, int per_second, std::chrono::seconds span) {
    const auto end = now + span;
    for (; now < end; now += model::Microseconds{1'000'000 / per_second}) recovery.succeeded(now);
    return end;
}

// How many go within the span, whenever they may, with a backlog.
int drain(Recovery& recovery, SteadyTime now, std::chrono::seconds span) {
    int went = 0;
    for (const auto end = now + span; now < end;) {
        recovery.looked(true, now);
        if (!recovery.may_go(now)) {
            now = recovery.next(now);
            continue;
        }
        recovery.went(now);
        recovery.succeeded(now);
        ++went;
        if (!recovery.is_on()) break;
    }
    return went;
}

}  // namespace

TEST_CASE("after an outage the rate stays within 120 % of the rate of before") {
    Recovery recovery{policy, start};
    auto now = work(recovery, start, 50, 10min);
    CHECK_FALSE(recovery.is_on());
    recovery.opened(now);
    CHECK(recovery.may_go(now));
    now += 40min;
    recovery.closed(now);
    CHECK(recovery.is_on());
    CHECK(recovery.per_second() == Approx(60).epsilon(0.02));
    const auto went = drain(recovery, now, 60s);
    CHECK(went <= 61 * 60);
    CHECK(went >= 59 * 60);
}

TEST_CASE("it ends when nobody waits and a second's worth is unused, not before") {
    Recovery recovery{policy, start};
    auto now = work(recovery, start, 50, 10min);
    recovery.opened(now);
    recovery.closed(now);
    recovery.looked(false, now);
    CHECK(recovery.is_on());
    now += 1s;
    recovery.looked(true, now);
    CHECK(recovery.is_on());
    recovery.looked(false, now);
    CHECK_FALSE(recovery.is_on());
    CHECK(recovery.may_go(now));
    CHECK(recovery.next(now) == SteadyTime::max());
}

TEST_CASE("what opens again before its backlog is gone keeps the rate of the first time") {
    Recovery recovery{policy, start};
    auto now = work(recovery, start, 50, 10min);
    recovery.opened(now);
    recovery.closed(now += 1h);
    now = work(recovery, now, 10, 2min);
    recovery.opened(now);
    recovery.closed(now += 1h);
    CHECK(recovery.per_second() == Approx(60).epsilon(0.02));
}

TEST_CASE("without a while of successes before the opening nothing is limited") {
    Recovery recovery{policy, start};
    recovery.opened(start);
    recovery.closed(start);
    CHECK_FALSE(recovery.is_on());
    auto now = work(recovery, start, 50, 59s);
    recovery.opened(now);
    recovery.closed(now);
    CHECK_FALSE(recovery.is_on());
    now = work(recovery, now, 50, 2min);
    recovery.opened(now);
    recovery.closed(now);
    CHECK(recovery.per_second() == Approx(60).epsilon(0.02));
    recovery.end();
    CHECK_FALSE(recovery.is_on());
}

TEST_CASE("a queue that was idle before is not held to what it did then") {
    Recovery recovery{policy, start};
    auto now = start;
    for (int i = 0; i < 5; ++i) recovery.succeeded(now += 2min);
    now = work(recovery, now + 5min, 500, 30s);
    recovery.opened(now);
    recovery.closed(now);
    CHECK_FALSE(recovery.is_on());
}

TEST_CASE("what is slower than one a second still goes") {
    Recovery recovery{policy, start};
    auto now = start;
    for (int i = 0; i < 100; ++i) recovery.succeeded(now += 10s);
    recovery.opened(now);
    recovery.closed(now);
    REQUIRE(recovery.is_on());
    CHECK(recovery.next(now) - now < 10s);
}

TEST_CASE("where what waits grows for a minute in spite of it the limit grows, and not where it becomes less") {
    Recovery recovery{policy, start};
    auto now = work(recovery, start, 50, 10min);
    recovery.opened(now);
    recovery.closed(now += 1min);
    const auto limit = recovery.per_second();
    for (const auto waiting : {1000U, 900U, 950U, 890U, 880U, 885U}) recovery.waiting(waiting, now += 15s);
    CHECK(recovery.per_second() == limit);
    for (const auto waiting : {900U, 920U, 940U, 960U}) recovery.waiting(waiting, now += 15s);
    CHECK(recovery.per_second() == Approx(limit * 1.2));
    for (int minute = 0; minute < 5; ++minute) {
        for (int i = 0; i < 4; ++i) recovery.waiting(2000, now += 15s);
    }
    CHECK(recovery.per_second() > limit * 2);
    CHECK(recovery.per_second() < limit * 4);
}
