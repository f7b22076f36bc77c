#include "core/tally.hpp"

#include <catch2/catch.hpp>

#include <random>
#include <vector>

using namespace retryd;
using namespace std::chrono_literals;
using core::Tally;
using model::SteadyTime;

TEST_CASE("what is older than the span is not counted, what is younger than nine tenths of it is") {
    Tally<2> tally{10s};
    tally.add(0, SteadyTime{100s});
    tally.add(1, SteadyTime{100s});
    tally.add(1, SteadyTime{105s});
    CHECK(tally.counts(SteadyTime{100s}) == Tally<2>::Counts{1, 2});
    CHECK(tally.counts(SteadyTime{109s}) == Tally<2>::Counts{1, 2});
    CHECK(tally.counts(SteadyTime{110s}) == Tally<2>::Counts{0, 1});
    CHECK(tally.counts(SteadyTime{115s}) == Tally<2>::Counts{0, 0});
    tally.clear();
    CHECK(tally.counts(SteadyTime{105s}) == Tally<2>::Counts{0, 0});
}

TEST_CASE("at the very start of time there is nothing yet") {
    Tally<1> tally{10s};
    CHECK(tally.counts(SteadyTime{})[0] == 0);
    tally.add(0, SteadyTime{});
    CHECK(tally.counts(SteadyTime{})[0] == 1);
}

TEST_CASE("the usual rate is that of whole tenths within a busy time") {
    Tally<1> tally{100s};
    SteadyTime now{1000s};
    const auto work = [&](int per_second, std::chrono::seconds span) {
        for (const auto end = now + span; now < end; now += model::Microseconds{1'000'000 / per_second}) tally.add(0, now);
    };
    CHECK(tally.usual_rate(0, now) == 0);
    work(50, 15s);
    CHECK(tally.usual_rate(0, now) == 0);  // one whole tenth, and nothing is known of before
    work(50, 15s);
    CHECK(tally.usual_rate(0, now) == Approx(50));
    now += 40s;
    work(10, 5s);
    CHECK(tally.usual_rate(0, now) == Approx(50));
    now += 100s;
    CHECK(tally.usual_rate(0, now) == 0);
}

TEST_CASE("whatever comes whenever, the count lies between those of nine tenths of the span and of all of it") {
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
        std::mt19937_64 random(seed);
        Tally<1> tally{1s};
        std::vector<SteadyTime> all;
        SteadyTime now{1h};
        for (int i = 0; i < 300; ++i) {
            now += model::Microseconds{random() % (seed * 1000)};
            tally.add(0, now);
            all.push_back(now);
            const auto within = [&](model::Microseconds span) {
                return static_cast<std::uint32_t>(
                    std::count_if(all.begin(), all.end(), [&](SteadyTime one) { return now - one < span; }));
            };
            REQUIRE(tally.counts(now)[0] <= within(1s));
            REQUIRE(tally.counts(now)[0] >= within(900ms));
        }
    }
}
