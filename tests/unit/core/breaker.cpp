#include "core/breaker.hpp"

#include <catch2/catch.hpp>

#include <map>
#include <random>

using namespace retryd;
using namespace std::chrono_literals;
using core::Breaker;
using model::DeliveryKey;
using model::SteadyTime;
using Said = Breaker::Said;
using State = Breaker::State;

namespace {

constexpr SteadyTime start{1h};
constexpr std::uint64_t no_jitter = 0;
constexpr auto quick = 5ms;

model::BreakerPolicy of_a_dependency() {
    model::BreakerPolicy policy;
    policy.failure_rate = {0.5};
    policy.all_fail.reset();
    return policy;
}

struct Bench {
    model::BreakerPolicy policy;
    Breaker breaker{policy, start};
    SteadyTime now = start;
    std::uint64_t last = 0;

    explicit Bench(const model::BreakerPolicy& its_policy) : policy(its_policy) {}

    void calls(int count, Said said, model::Microseconds took = quick) {
        for (; count > 0; --count) breaker.ended({++last}, said, took, now, no_jitter);
    }
    DeliveryKey probe(model::Milliseconds timeout = 20s) {
        REQUIRE(breaker.probes_due() > 0);
        breaker.begin_probe({++last}, now + timeout);
        return {last};
    }
    void end(DeliveryKey key, Said said, model::Microseconds took = quick) { breaker.ended(key, said, took, now, no_jitter); }
    void pass(model::Microseconds span) {
        const auto end = now + span;
        while (breaker.next() <= end) {
            now = std::max(now, breaker.next());
            breaker.timer_due(now);
        }
        now = end;
    }
    void until_half_open() {
        REQUIRE(breaker.state() == State::open);
        pass(*breaker.until() - now);
        REQUIRE(breaker.state() == State::half_open);
    }
};

}  // namespace

TEST_CASE("what trips it, and what does not") {
    struct Row {
        const char* what;
        std::uint32_t calls, failed, slow;
        bool trips;
    };
    auto policy = of_a_dependency();
    policy.slow_call = 1s;
    policy.slow_rate = {0.8};
    for (const auto& row :
         {Row{"too few calls", 19, 19, 19, false}, Row{"under half", 20, 9, 0, false}, Row{"half", 20, 10, 0, true},
          Row{"slow", 20, 0, 16, true}, Row{"not that slow", 20, 0, 15, false}}) {
        CAPTURE(row.what);
        CHECK(Breaker::trips(policy, {row.calls, row.failed, row.slow}) == row.trips);
    }
    const model::BreakerPolicy of_a_queue;
    CHECK_FALSE(Breaker::trips(of_a_queue, {9, 9, 0, 9, 9}));
    CHECK(Breaker::trips(of_a_queue, {10, 10, 0, 10, 10}));
    CHECK(Breaker::trips(of_a_queue, {1000, 10, 0, 10, 10}));
    CHECK_FALSE(Breaker::trips(of_a_queue, {11, 10, 0, 9, 9}));
    CHECK_FALSE(Breaker::trips(of_a_queue, {1010, 510, 0, 10, 10}));  // of those before, half
    CHECK(Breaker::trips(of_a_queue, {1030, 530, 0, 30, 30}));
    CHECK(Breaker::trips(of_a_queue, {15, 15, 0, 10, 15}));  // further tries of those in the row are none before it
    CHECK(Breaker::trips(of_a_queue, {4, 4, 0, 10, 10}));    // the row began before the window
    CHECK(Breaker::trips(of_a_queue, {20, 18, 0}));
    policy.slow_call.reset();
    CHECK_FALSE(Breaker::trips(policy, {20, 0, 20}));
}

TEST_CASE("it opens with the call that is too much, and nothing passes") {
    Bench bench{{}};
    bench.calls(9, Said::failed);
    CHECK(bench.breaker.lets_all());
    bench.calls(1, Said::failed);
    CHECK(bench.breaker.state() == State::open);
    CHECK_FALSE(bench.breaker.lets_all());
    CHECK(bench.breaker.probes_due() == 0);
    CHECK(bench.breaker.until() == start + 10s + 1ms);
}

TEST_CASE("further tries of a message make no row, but are calls that failed") {
    Bench bench{{}};
    for (int message = 0; message < 6; ++message) {
        bench.calls(1, Said::failed);
        bench.calls(2, Said::failed_again);
    }
    CHECK(bench.breaker.state() == State::closed);
    CHECK(bench.breaker.counts(bench.now).failed == 18);
    CHECK(bench.breaker.counts(bench.now).in_row == 6);
    bench.calls(1, Said::failed);
    bench.calls(1, Said::failed_again);
    CHECK(bench.breaker.state() == State::open);  // all of twenty
}

TEST_CASE("where a third fails on a good day, chance hardly ever opens it, and an outage does at once") {
    std::mt19937_64 chance{11};
    Bench bench{{}};
    for (int call = 0; call < 1'000'000; ++call) {
        bench.calls(1, chance() % 3 == 0 ? Said::failed : Said::good);
        bench.now += 3ms;
    }
    CHECK(bench.breaker.state() == State::closed);
    bench.calls(25, Said::failed);
    CHECK(bench.breaker.state() == State::open);
}

TEST_CASE("a row of failures opens it however much went well before; one good call ends the row") {
    Bench bench{{}};
    bench.calls(1000, Said::good);
    bench.calls(9, Said::failed);
    bench.calls(1, Said::alive);
    bench.calls(1, Said::good);
    bench.calls(9, Said::failed);
    CHECK(bench.breaker.state() == State::closed);
    bench.calls(1, Said::failed);
    CHECK(bench.breaker.state() == State::open);
}

TEST_CASE("what is old counts no more") {
    Bench bench{{}};
    bench.calls(9, Said::failed);
    bench.pass(31s);
    bench.calls(9, Said::failed);
    CHECK(bench.breaker.state() == State::closed);
    CHECK(bench.breaker.counts(bench.now).calls == 9);
}

TEST_CASE("what is no fault of its own says nothing: fifty that are refused for what they are leave it closed") {
    Bench bench{{}};
    bench.calls(50, Said::nothing);
    bench.calls(50, Said::alive);
    CHECK(bench.breaker.counts(bench.now).calls == 0);
    bench.calls(9, Said::failed);
    CHECK(bench.breaker.state() == State::closed);
}

TEST_CASE("with one probe exactly one call is made until it is judged") {
    auto policy = model::BreakerPolicy{};
    policy.half_open = 1;
    Bench bench{policy};
    bench.calls(10, Said::failed);
    bench.until_half_open();
    const auto key = bench.probe();
    CHECK(bench.breaker.probes_due() == 0);
    CHECK_FALSE(bench.breaker.lets_all());
    bench.end(key, Said::good);
    CHECK(bench.breaker.state() == State::closed);
    CHECK(bench.breaker.counts(bench.now).calls == 0);
}

TEST_CASE("probes are judged by the failure rate, as soon as the rest can make no difference") {
    struct Row {
        std::vector<Said> said;
        State after;
    };
    const std::vector<Row> by_half{
        {{Said::good}, State::half_open},
        {{Said::good, Said::good}, State::closed},
        {{Said::failed, Said::good, Said::good}, State::closed},
        {{Said::failed}, State::half_open},
        {{Said::failed, Said::failed}, State::open},
        {{Said::failed, Said::good, Said::failed}, State::open},
        {{Said::alive, Said::alive}, State::closed},
        {{Said::nothing, Said::nothing, Said::nothing}, State::half_open},
    };
    for (const auto& row : by_half) {
        Bench bench{of_a_dependency()};
        bench.breaker.trip(bench.now, no_jitter);
        bench.until_half_open();
        for (const auto said : row.said) bench.end(bench.probe(), said);
        CHECK(bench.breaker.state() == row.after);
    }
}

TEST_CASE("a probe that ends without a word, or never ends, gives its permit back") {
    Bench bench{{}};
    bench.breaker.trip(bench.now, no_jitter);
    bench.until_half_open();
    const auto first = bench.probe(20s);
    bench.probe(30s);
    const auto third = bench.probe(20s);
    CHECK(bench.breaker.probes_due() == 0);
    bench.end(first, Said::nothing);
    CHECK(bench.breaker.probes_due() == 1);
    bench.breaker.extended(third, bench.now + 1min);
    bench.pass(30s);
    CHECK(bench.breaker.probes_due() == 2);
    CHECK(bench.breaker.is_probe(third));
    bench.pass(30s);
    CHECK(bench.breaker.probes_due() == 3);
    bench.end(third, Said::good);  // too late: it is no probe any more
    CHECK(bench.breaker.state() == State::half_open);
}

TEST_CASE("what began before it opened says nothing afterwards") {
    Bench bench{{}};
    bench.breaker.trip(bench.now, no_jitter);
    bench.calls(100, Said::good);
    CHECK(bench.breaker.state() == State::open);
    bench.until_half_open();
    bench.calls(100, Said::good);
    CHECK(bench.breaker.state() == State::half_open);
    CHECK(bench.breaker.judged().calls == 0);
    const auto old = bench.probe();
    for (int i = 0; i < 2; ++i) bench.end(bench.probe(), Said::failed);
    bench.breaker.trip(bench.now, no_jitter);
    CHECK(bench.breaker.state() == State::half_open);  // by 90 % it takes all three
    bench.breaker.throttled(1s, bench.now);
    bench.until_half_open();
    bench.end(old, Said::good);
    CHECK(bench.breaker.judged().calls == 0);
}

TEST_CASE("each reopening doubles the open time up to its limit; a while in good health makes it short again") {
    Bench bench{{}};
    std::vector<std::int64_t> seconds;
    bench.breaker.trip(bench.now, no_jitter);
    for (int i = 0; i < 7; ++i) {
        seconds.push_back(std::chrono::duration_cast<std::chrono::seconds>(*bench.breaker.until() - bench.now).count());
        bench.until_half_open();
        for (int probe = 0; probe < 3; ++probe) bench.end(bench.probe(), Said::failed);
    }
    CHECK(seconds == std::vector<std::int64_t>{10, 20, 40, 80, 160, 300, 300});
    bench.until_half_open();
    for (const auto key : {bench.probe(), bench.probe(), bench.probe()}) bench.end(key, Said::good);
    REQUIRE(bench.breaker.state() == State::closed);
    bench.pass(29s);
    bench.calls(10, Said::failed);
    CHECK(*bench.breaker.until() - bench.now > 300s);
    bench.until_half_open();
    for (const auto key : {bench.probe(), bench.probe(), bench.probe()}) bench.end(key, Said::good);
    bench.pass(30s);
    bench.calls(10, Said::failed);
    CHECK(*bench.breaker.until() - bench.now < 11s);
}

TEST_CASE("jitter makes it up to a fifth longer, never shorter") {
    const model::BreakerPolicy policy;
    for (const std::uint64_t random : {std::uint64_t{0}, std::uint64_t{1} << 63U, ~std::uint64_t{0}}) {
        Breaker breaker{policy, start};
        breaker.trip(start, random);
        CHECK(*breaker.until() >= start + 10s);
        CHECK(*breaker.until() <= start + 12s);
    }
}

TEST_CASE("one that asks to be left alone is, for as long as it asks and not less") {
    Bench bench{{}};
    bench.breaker.throttled(1min, bench.now);
    CHECK(bench.breaker.state() == State::open);
    bench.breaker.throttled(30s, bench.now);
    CHECK(bench.breaker.until() == start + 1min);
    bench.breaker.throttled(2min, bench.now);
    CHECK(bench.breaker.until() == start + 2min);
    bench.until_half_open();
    CHECK(bench.breaker.reopenings() == 0);
}

TEST_CASE("an operator's word goes over everything, until it ends or another comes") {
    Bench bench{{}};
    bench.breaker.force(State::forced_open, start + 30min, bench.now);
    CHECK_FALSE(bench.breaker.lets_all());
    CHECK(bench.breaker.probes_due() == 0);
    bench.breaker.throttled(1h, bench.now);
    bench.pass(30min);
    CHECK(bench.breaker.state() == State::half_open);
    bench.breaker.force(State::forced_closed, std::nullopt, bench.now);
    bench.calls(100, Said::failed);
    CHECK(bench.breaker.lets_all());
    CHECK(bench.breaker.next() == SteadyTime::max());
    bench.breaker.force(State::disabled, bench.now + 1s, bench.now);
    bench.calls(100, Said::failed);
    CHECK(bench.breaker.lets_all());
    CHECK(bench.breaker.counts(bench.now).failed == 200);
    bench.pass(1s);
    CHECK(bench.breaker.state() == State::closed);
    CHECK(bench.breaker.counts(bench.now).calls == 0);
    bench.calls(10, Said::failed);
    bench.breaker.reset(bench.now);
    CHECK(bench.breaker.lets_all());
}

// Calls come, end in every way or never, operators meddle: whatever happens, it lets through what it should, and no state lasts
// for ever.
TEST_CASE("over seeds: no permit leaks, probes never exceed their number, and it is never stuck") {
    for (std::uint64_t seed = 1; seed <= 300; ++seed) {
        std::mt19937_64 random(seed);
        model::BreakerPolicy policy;
        policy.half_open = 1 + static_cast<std::uint32_t>(random() % 5);
        policy.failure_rate = {0.1 * static_cast<double>(1 + random() % 10)};
        policy.min_calls = 1 + static_cast<std::uint32_t>(random() % 30);
        if (random() % 2 == 0) policy.all_fail.reset();
        if (random() % 2 == 0) policy.slow_call = 10ms;
        Breaker breaker{policy, start};
        auto now = start;
        std::map<DeliveryKey, bool> probes;  // begun in this half-open state and not ended
        std::uint64_t last = 0;
        for (int step = 0; step < 2000; ++step) {
            now += model::Milliseconds{random() % 400};
            while (breaker.next() <= now) breaker.timer_due(now);
            if (breaker.state() != State::half_open) probes.clear();
            REQUIRE(breaker.probes_in_flight() + breaker.probes_due() <= policy.half_open);
            if (breaker.state() == State::open) REQUIRE(breaker.next() != SteadyTime::max());
            if (breaker.state() == State::half_open)  // a probe in flight or due
                REQUIRE(breaker.probes_in_flight() + breaker.probes_due() > 0);
            const auto said = static_cast<Said>(random() % 5);
            const auto took = model::Milliseconds{random() % 20};
            if (breaker.probes_due() > 0 && random() % 2 == 0) {
                breaker.begin_probe({++last}, now + model::Milliseconds{1 + random() % 5000});
                probes[{last}] = true;
            } else if (!probes.empty() && random() % 3 == 0) {
                const auto key = std::next(probes.begin(), static_cast<std::ptrdiff_t>(random() % probes.size()))->first;
                probes.erase(key);
                breaker.ended(key, said, took, now, random());
            } else if (random() % 500 == 0) {
                const State forced[] = {State::forced_open, State::forced_closed, State::disabled};
                breaker.force(forced[random() % 3], now + 1s, now);
            } else {
                breaker.ended({++last}, said, took, now, random());
            }
        }
        // It heals: whatever state it is in, probes that succeed close it.
        const auto healed_by = now + 10min;
        while (!breaker.lets_all() && now < healed_by) {
            now = std::max(now, breaker.next() == SteadyTime::max() ? now : breaker.next());
            breaker.timer_due(now);
            while (breaker.probes_due() > 0) {
                breaker.begin_probe({++last}, now + 1s);
                breaker.ended({last}, Said::good, 1ms, now, random());
            }
        }
        CAPTURE(seed);
        CHECK(breaker.lets_all());
    }
}
