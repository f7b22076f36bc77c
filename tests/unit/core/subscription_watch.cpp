#include "core/subscription_watch.hpp"

#include <catch2/catch.hpp>

using retryd::core::SubscriptionWatch;
using namespace std::chrono_literals;
using retryd::model::SteadyTime;
using Look = SubscriptionWatch::Look;
using Doubt = SubscriptionWatch::Doubt;

namespace {

constexpr Look idle{.ready = 0, .consumers = 1};
constexpr Look forgotten{.ready = 5, .consumers = 0};
constexpr Look waiting{.ready = 5, .consumers = 1};

struct Bench {
    SubscriptionWatch watch;
    SteadyTime now{1h};

    bool look(const Look& look) {
        now += 15s;
        return watch.looked(look, now);
    }
};

}  // namespace

TEST_CASE("an idle queue, and one whose messages come, are in order") {
    Bench bench;
    for (std::uint64_t i = 0; i < 10; ++i) {
        CHECK_FALSE(bench.look(idle));
        CHECK_FALSE(bench.look({.ready = 5, .consumers = 1, .arrivals = i}));
        CHECK(bench.watch.doubt() == Doubt::none);
    }
}

TEST_CASE("a consumer that the broker does not know is named at once, and renewed when it is still so") {
    Bench bench;
    CHECK_FALSE(bench.look(forgotten));
    CHECK(bench.watch.doubt() == Doubt::unknown);
    CHECK(bench.watch.since() == bench.now);
    CHECK(bench.look(forgotten));
    bench.watch.renewed();
    CHECK(bench.watch.doubt() == Doubt::none);
    CHECK_FALSE(bench.look(forgotten));
    CHECK(bench.look(forgotten));
}

TEST_CASE("a count that was old does no harm") {
    Bench bench;
    bench.look(forgotten);
    CHECK_FALSE(bench.look(idle));
    CHECK(bench.watch.doubt() == Doubt::none);
    CHECK_FALSE(bench.look(forgotten));
}

TEST_CASE("messages that wait and do not come are named at the second look and renewed at the third") {
    Bench bench;
    CHECK_FALSE(bench.look(waiting));
    CHECK(bench.watch.doubt() == Doubt::none);
    CHECK_FALSE(bench.look(waiting));
    CHECK(bench.watch.doubt() == Doubt::starved);
    CHECK(bench.look(waiting));
    bench.watch.renewed();
    CHECK(bench.watch.doubt() == Doubt::starved);  // until something comes
    bench.watch.arrived();
    CHECK(bench.watch.doubt() == Doubt::none);
}

TEST_CASE("who starves alone is renewed again and again, and stays named") {
    Bench bench;
    int renewals = 0;
    for (int i = 0; i < 21; ++i) {
        if (!bench.look(waiting)) continue;
        ++renewals;
        bench.watch.renewed();
    }
    CHECK(renewals == 10);
    CHECK(bench.watch.doubt() == Doubt::starved);
    CHECK(bench.watch.since() == SteadyTime{1h + 30s});
}

TEST_CASE("where a renewal was in vain and others consume too, they come first: that is no stall") {
    Bench bench;
    const Look shared{.ready = 5, .consumers = 2};
    bench.look(shared);
    bench.look(shared);
    CHECK(bench.watch.doubt() == Doubt::starved);
    CHECK(bench.look(shared));
    bench.watch.renewed();
    for (int i = 0; i < 10; ++i) CHECK_FALSE(bench.look(shared));
    CHECK(bench.watch.doubt() == Doubt::none);
    bench.look(waiting);  // the others have gone, and still nothing comes
    CHECK(bench.watch.doubt() == Doubt::starved);
}

TEST_CASE("a full hand explains why nothing comes") {
    Bench bench;
    for (int i = 0; i < 10; ++i) CHECK_FALSE(bench.look({.ready = 5, .consumers = 1, .room = false}));
    CHECK(bench.watch.doubt() == Doubt::none);
    CHECK_FALSE(bench.look(waiting));
    CHECK(bench.watch.doubt() == Doubt::none);
}
