#include "core/concurrency.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <random>

using namespace retryd;
using namespace std::chrono_literals;
using core::ConcurrencyController;
using core::LoadRound;
using core::LoadSensor;
using model::SteadyTime;

namespace {

constexpr SteadyTime start{1h};

// A consumer that works at so many at once, 10 ms each; more of them wait for each other.
LoadRound round_at(std::uint32_t limit, double capacity, double noise = 0) {
    return {0.01 * std::max(1.0, limit / capacity) * (1 + noise), false, true};
}

}  // namespace

TEST_CASE("a round is half a second and ten deliveries at least, and says what they were like") {
    LoadSensor sensor;
    for (int i = 0; i < 9; ++i) CHECK_FALSE(sensor.ended(10ms, false, i == 3, start + i * 100ms));
    const auto round = sensor.ended(30ms, false, false, start + 900ms);
    REQUIRE(round);
    CHECK(round->seconds == Approx(0.012));
    CHECK(round->saturated);
    CHECK_FALSE(round->pushed_back);
    for (int i = 0; i < 1000; ++i) CHECK_FALSE(sensor.ended(10ms, false, false, start + 1s));
    const auto next = sensor.ended(std::nullopt, true, false, start + 1400ms);
    REQUIRE(next);
    CHECK(next->pushed_back);
    CHECK_FALSE(next->saturated);
    CHECK(next->seconds == Approx(0.01));
}

TEST_CASE("it starts low, doubles while latency is flat, and stays within its limits") {
    ConcurrencyController controller{{1, 16}};
    std::vector<std::uint32_t> limits{controller.limit()};
    for (int i = 0; i < 6; ++i) {
        controller.update(round_at(controller.limit(), 100));
        limits.push_back(controller.limit());
    }
    CHECK(limits == std::vector<std::uint32_t>{1, 2, 4, 8, 16, 16, 16});
}

TEST_CASE("what is not used is not raised") {
    ConcurrencyController controller{{1, 16}};
    for (int i = 0; i < 50; ++i) controller.update({0.01, false, false});
    CHECK(controller.limit() == 1);
}

TEST_CASE("pushed back it shrinks by a third, down to its least") {
    ConcurrencyController controller{{2, 64}};
    for (int i = 0; i < 10; ++i) controller.update(round_at(controller.limit(), 100));
    REQUIRE(controller.limit() == 64);
    controller.update({0.01, true, true});
    CHECK(controller.limit() == 42);
    for (int i = 0; i < 20; ++i) controller.update({0, true, true});
    CHECK(controller.limit() == 2);
    controller.update(round_at(2, 100));
    CHECK(controller.limit() == 3);
}

TEST_CASE("over seeds: it settles near what the consumer can do, and follows when that changes") {
    for (std::uint64_t seed = 1; seed <= 50; ++seed) {
        std::mt19937_64 random(seed);
        ConcurrencyController controller{{1, 100}};
        for (const double capacity : {8.0, 30.0, 5.0}) {
            std::uint32_t inside = 0;
            for (int i = 0; i < 400; ++i) {
                const auto noise = 0.1 * static_cast<double>(random() % 100) / 100;
                controller.update(round_at(controller.limit(), capacity, noise));
                REQUIRE(controller.limit() >= 1);
                REQUIRE(controller.limit() <= 100);
                if (i >= 200 && controller.limit() >= capacity * 0.4 && controller.limit() <= capacity * 2) ++inside;
            }
            CAPTURE(seed, capacity, controller.limit());
            CHECK(inside >= 190);
        }
    }
}

TEST_CASE("a consumer that has become slower for everybody is not strangled for ever") {
    ConcurrencyController controller{{1, 16}};
    for (int i = 0; i < 10; ++i) controller.update({0.01, false, true});
    REQUIRE(controller.limit() == 16);
    for (int i = 0; i < 20; ++i) controller.update({0.05, false, true});
    CHECK(controller.limit() == 1);
    for (int i = 0; i < 100; ++i) controller.update({0.05, false, true});
    CHECK(controller.limit() == 16);
}
