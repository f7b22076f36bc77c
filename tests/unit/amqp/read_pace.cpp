#include "amqp/read_pace.hpp"

#include <catch2/catch.hpp>

using namespace retryd;
using namespace std::chrono_literals;
using amqp::ReadPace;

namespace {

constexpr double of_256 = 1.0 / 256;

// So many looks, each of which brings so many messages of a prefetch of 256.
struct Looks {
    ReadPace pace;
    model::SteadyTime now{1h};
    void go_on(int looks, std::size_t messages, model::Microseconds apart) {
        for (int i = 0; i < looks; ++i) {
            now += apart;
            pace.looked(messages, static_cast<double>(messages) * of_256, now);
        }
    }
};

}  // namespace

TEST_CASE("a link rests between looks where many messages come by few") {
    Looks looks;
    looks.go_on(50, 3, 1ms);
    CHECK(looks.pace.rests());
    SECTION("not when one brought nothing: what comes next comes alone") {
        looks.go_on(1, 0, 1ms);
        CHECK_FALSE(looks.pace.rests());
        looks.go_on(1, 3, 1ms);
        CHECK(looks.pace.rests());
    }
    SECTION("not when one brought much: the broker may wait for acks") {
        looks.go_on(1, 16, 1ms);
        CHECK_FALSE(looks.pace.rests());
    }
    SECTION("not after a pause") {
        looks.go_on(1, 1, 1s);
        CHECK_FALSE(looks.pace.rests());
    }
}

TEST_CASE("a link never rests where few messages come") {
    Looks looks;
    for (int i = 0; i < 100; ++i) {
        looks.go_on(1, 1, 1ms);
        CHECK_FALSE(looks.pace.rests());
    }
}

TEST_CASE("a link never rests where each message is much of the prefetch") {
    ReadPace pace;
    model::SteadyTime now{1h};
    for (int i = 0; i < 100; ++i) {
        now += 200us;
        pace.looked(1, 1.0 / 8, now);
        CHECK_FALSE(pace.rests());
    }
}
