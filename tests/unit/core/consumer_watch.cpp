#include "core/consumer_watch.hpp"

#include <catch2/catch.hpp>

using retryd::core::ConsumerWatch;
using namespace std::chrono_literals;
using State = ConsumerWatch::State;
using retryd::model::SteadyTime;

namespace {

constexpr SteadyTime start{1h};
constexpr std::uint64_t latest = ~0ULL;  // the jitter that waits longest

}  // namespace

TEST_CASE("it starts away, with a probe due at once, and no second one while that runs") {
    ConsumerWatch watch(start);
    CHECK(watch.permits(16) == 0);
    CHECK(watch.next() == start);
    CHECK(watch.timer_due(start));
    CHECK_FALSE(watch.timer_due(start + 1h));
    CHECK(watch.next() == SteadyTime::max());
    watch.probe_succeeded(start);
    CHECK(watch.state() == State::present);
    CHECK(watch.permits(16) == 16);
}

TEST_CASE("probes of an absent consumer slow down from 100 ms to 5 s, one at a time") {
    ConsumerWatch watch(start);
    auto now = start;
    std::vector<std::int64_t> gaps;
    for (int i = 0; i < 8; ++i) {
        REQUIRE(watch.timer_due(now));
        watch.probe_failed(now, latest);
        gaps.push_back(std::chrono::duration_cast<std::chrono::milliseconds>(watch.next() - now).count());
        CHECK_FALSE(watch.timer_due(watch.next() - 1ms));
        now = watch.next();
    }
    CHECK(gaps == std::vector<std::int64_t>{99, 199, 399, 799, 1599, 3199, 4999, 4999});
}

TEST_CASE("an answer ends the row of failures, a connect alone does not") {
    ConsumerWatch watch(start);
    REQUIRE(watch.timer_due(start));
    watch.probe_succeeded(start);
    watch.unavailable(start, latest);
    const auto first = watch.next() - start;
    REQUIRE(watch.timer_due(watch.next()));
    watch.probe_succeeded(start);
    watch.unavailable(start, latest);
    CHECK(watch.next() - start > first);
    REQUIRE(watch.timer_due(watch.next()));
    watch.probe_succeeded(start);
    watch.answered(true, start);
    watch.unavailable(start, latest);
    CHECK(watch.next() - start == first);
}

TEST_CASE("a misconfigured consumer gets one message now and then until it answers otherwise") {
    ConsumerWatch watch(start);
    REQUIRE(watch.timer_due(start));
    watch.probe_succeeded(start);
    watch.endpoint(start, latest);
    CHECK(watch.state() == State::misconfigured);
    CHECK(watch.permits(16) == 0);
    CHECK_FALSE(watch.timer_due(watch.next()));  // no connect probe: it takes a real message
    CHECK(watch.state() == State::trying);
    CHECK(watch.permits(16) == 1);
    CHECK(watch.since() == start);  // one trouble since it began
    watch.endpoint(start + 1s, latest);
    CHECK(watch.state() == State::misconfigured);
    CHECK(watch.since() == start);
    CHECK_FALSE(watch.timer_due(watch.next()));
    watch.answered(false, start + 2s);
    CHECK(watch.state() == State::present);
}

TEST_CASE("only a success proves the path, and only until the consumer goes away") {
    ConsumerWatch watch(start);
    REQUIRE(watch.timer_due(start));
    watch.probe_succeeded(start);
    watch.answered(false, start);
    CHECK_FALSE(watch.proven());
    watch.answered(true, start);
    CHECK(watch.proven());
    watch.endpoint(start, latest);
    CHECK(watch.proven());
    watch.unavailable(start, latest);
    CHECK_FALSE(watch.proven());
}
