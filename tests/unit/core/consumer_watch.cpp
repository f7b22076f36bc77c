#include "core/consumer_watch.hpp"

#include <catch2/catch.hpp>

using retryd::core::ConsumerWatch;
using namespace std::chrono_literals;
using State = ConsumerWatch::State;
using retryd::model::SteadyTime;

namespace {

constexpr SteadyTime start{1h};
constexpr std::uint64_t latest = ~0ULL;  // the jitter that waits longest

const auto at_once = [] {
    retryd::model::DeliverPolicy policy;
    policy.slow_start.reset();
    return policy;
}();

}  // namespace

TEST_CASE("it starts away, with a probe due at once, and no second one while that runs") {
    ConsumerWatch watch(at_once, start);
    CHECK(watch.permits(16, start) == 0);
    CHECK(watch.next() == start);
    CHECK(watch.timer_due(start));
    CHECK_FALSE(watch.timer_due(start + 1h));
    CHECK(watch.next() == SteadyTime::max());
    watch.probe_succeeded(start);
    CHECK(watch.state() == State::present);
    CHECK(watch.permits(16, start) == 16);
}

TEST_CASE("probes of an absent consumer slow down from 100 ms to 5 s, one at a time") {
    ConsumerWatch watch(at_once, start);
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
    ConsumerWatch watch(at_once, start);
    REQUIRE(watch.timer_due(start));
    watch.probe_succeeded(start);
    watch.unavailable(start, latest);
    const auto first = watch.next() - start;
    REQUIRE(watch.timer_due(watch.next()));
    watch.probe_succeeded(start);
    CHECK(watch.state() == State::trying);
    watch.unavailable(start, latest);
    CHECK(watch.next() - start > first);
    REQUIRE(watch.timer_due(watch.next()));
    watch.probe_succeeded(start);
    watch.answered(true, start);
    watch.unavailable(start, latest);
    CHECK(watch.next() - start == first);
}

TEST_CASE("a misconfigured consumer gets one message now and then until it answers otherwise") {
    ConsumerWatch watch(at_once, start);
    REQUIRE(watch.timer_due(start));
    watch.probe_succeeded(start);
    watch.endpoint(start, latest);
    CHECK(watch.state() == State::misconfigured);
    CHECK(watch.permits(16, start) == 0);
    CHECK_FALSE(watch.timer_due(watch.next()));  // no connect probe: it takes a real message
    CHECK(watch.state() == State::trying);
    CHECK(watch.permits(16, start) == 1);
    CHECK(watch.since() == start);  // one trouble since it began
    watch.endpoint(start + 1s, latest);
    CHECK(watch.state() == State::misconfigured);
    CHECK(watch.since() == start);
    CHECK_FALSE(watch.timer_due(watch.next()));
    watch.answered(false, start + 2s);
    CHECK(watch.state() == State::present);
}

TEST_CASE("only a success proves the path, and only until the consumer goes away") {
    ConsumerWatch watch(at_once, start);
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

TEST_CASE("a slow start doubles with each round that succeeded, and is over after its time") {
    retryd::model::DeliverPolicy policy;
    policy.slow_start = 10s;
    ConsumerWatch watch(policy, start);
    REQUIRE(watch.timer_due(start));
    watch.probe_succeeded(start);
    std::vector<std::uint32_t> allowed;
    for (int i = 0; i < 16; ++i) {
        allowed.push_back(watch.permits(12, start));
        watch.answered(true, start);
    }
    CHECK(allowed == std::vector<std::uint32_t>{1, 2, 2, 4, 4, 4, 4, 8, 8, 8, 8, 8, 8, 8, 8, 12});

    watch.unavailable(start, latest);
    REQUIRE(watch.timer_due(watch.next()));
    watch.probe_succeeded(start);
    watch.answered(false, start);  // a failure does not count
    CHECK(watch.permits(12, start) == 1);
    CHECK(watch.next() == start + 10s);
    CHECK(watch.permits(12, start + 10s) == 12);
    CHECK_FALSE(watch.timer_due(start + 10s));
    CHECK(watch.next() == SteadyTime::max());
}

TEST_CASE("a standing gate is asked again and again, and closes and opens after its counts") {
    auto policy = at_once;
    policy.ready = retryd::model::ReadyPolicy{"/healthz", 2s, 2, 3};
    ConsumerWatch watch(policy, start);
    auto now = start;
    const auto probe = [&](bool ready) {
        now = std::max(now, watch.next());
        REQUIRE(watch.timer_due(now));
        REQUIRE_FALSE(watch.timer_due(now));
        if (ready) {
            watch.probe_succeeded(now);
        } else {
            watch.probe_refused(now);
        }
        CHECK(watch.next() == now + 2s);
        return watch.state();
    };
    CHECK(probe(false) == State::not_ready);
    CHECK(watch.permits(16, now) == 0);
    CHECK(probe(true) == State::not_ready);
    CHECK(probe(true) == State::not_ready);
    CHECK(probe(true) == State::present);
    CHECK(probe(false) == State::present);
    CHECK(probe(true) == State::present);
    CHECK(probe(false) == State::present);
    CHECK(probe(false) == State::not_ready);
}

TEST_CASE("behind a gate a misconfigured consumer is tried only when it says that it is ready") {
    auto policy = at_once;
    policy.ready = retryd::model::ReadyPolicy{"/healthz", 2s, 1, 1};
    ConsumerWatch watch(policy, start);
    REQUIRE(watch.timer_due(start));
    watch.probe_succeeded(start);
    const auto asks_again = [&] {
        watch.endpoint(start, latest);
        CHECK(watch.state() == State::misconfigured);
        REQUIRE(watch.timer_due(watch.next()));
        CHECK(watch.state() == State::misconfigured);
        CHECK(watch.next() == SteadyTime::max());  // one question at a time
        CHECK(watch.permits(16, start) == 0);
    };
    asks_again();
    watch.probe_succeeded(start);
    CHECK(watch.state() == State::trying);
    CHECK(watch.is_misconfigured());
    CHECK(watch.permits(16, start) == 1);

    asks_again();
    watch.probe_refused(start);
    CHECK(watch.state() == State::not_ready);
    REQUIRE(watch.timer_due(watch.next()));
    watch.probe_succeeded(start);
    CHECK(watch.state() == State::present);

    asks_again();
    watch.probe_failed(start, latest);
    CHECK(watch.state() == State::away);
}

TEST_CASE("a gate that nobody answers any more means away, after its count") {
    auto policy = at_once;
    policy.ready = retryd::model::ReadyPolicy{"/healthz", 2s, 2, 1};
    ConsumerWatch watch(policy, start);
    REQUIRE(watch.timer_due(start));
    watch.probe_succeeded(start);
    REQUIRE(watch.timer_due(start + 2s));
    watch.probe_failed(start + 2s, latest);
    CHECK(watch.state() == State::present);
    REQUIRE(watch.timer_due(start + 4s));
    watch.probe_failed(start + 4s, latest);
    CHECK(watch.state() == State::away);
}

TEST_CASE("one that has been away must answer a message before it is given more, and its trouble goes on where it does not") {
    ConsumerWatch watch(at_once, start);
    REQUIRE(watch.timer_due(start));
    watch.probe_failed(start, latest);
    const auto later = watch.next();
    REQUIRE(watch.timer_due(later));
    watch.probe_succeeded(later);
    CHECK(watch.state() == State::trying);
    CHECK_FALSE(watch.is_misconfigured());
    CHECK(watch.permits(16, later) == 1);
    watch.unavailable(later, latest);
    CHECK(watch.state() == State::away);
    CHECK(watch.since() == start);
    REQUIRE(watch.timer_due(watch.next()));
    watch.probe_succeeded(later);
    watch.answered(false, later);
    CHECK(watch.state() == State::present);
    CHECK(watch.since() == later);
}

TEST_CASE("a consumer that dials in has proved itself by its hello") {
    auto policy = at_once;
    policy.stream = retryd::model::StreamTarget{};
    ConsumerWatch watch(policy, start);
    REQUIRE(watch.timer_due(start));
    watch.probe_failed(start, latest);
    watch.probe_succeeded(start);
    CHECK(watch.state() == State::present);
}
