#include "core/link_watch.hpp"

#include <catch2/catch.hpp>

using retryd::core::LinkWatch;
using namespace std::chrono_literals;
using retryd::model::SteadyTime;
using Second = LinkWatch::Second;
using Silence = LinkWatch::Silence;

namespace {

constexpr Second stuck{.lives = false};
constexpr Second unanswered{.pending = 1, .answers = 7};

struct Bench {
    LinkWatch watch{30s, 20s};
    SteadyTime now{1h};

    // How many of the seconds ended the link.
    int pass(int seconds, Second second) {
        int ended = 0;
        for (int i = 0; i < seconds; ++i, now += 1s) ended += watch.passed(second, now) ? 1 : 0;
        return ended;
    }
};

}  // namespace

TEST_CASE("a thread without a sign of life is named after five seconds and ended after fifteen, once") {
    Bench bench;
    CHECK(bench.pass(4, stuck) == 0);
    CHECK(bench.watch.silence() == Silence::none);
    CHECK(bench.pass(1, stuck) == 0);
    CHECK(bench.watch.silence() == Silence::thread);
    CHECK(bench.watch.since() == SteadyTime{1h});
    CHECK(bench.pass(9, stuck) == 0);
    CHECK(bench.pass(1, stuck) == 1);
    CHECK(bench.pass(100, stuck) == 0);
    CHECK(bench.watch.silence() == Silence::thread);
}

TEST_CASE("one sign of life ends the silence") {
    Bench bench;
    bench.pass(14, stuck);
    bench.pass(1, {});
    CHECK(bench.watch.silence() == Silence::none);
    CHECK(bench.pass(14, stuck) == 0);
}

TEST_CASE("a process that was stopped for an hour blames no link") {
    Bench bench;
    bench.pass(3, {});
    bench.now += 1h;
    CHECK(bench.pass(1, stuck) == 0);
    CHECK(bench.watch.silence() == Silence::none);
}

TEST_CASE("a broker that leaves questions open is named after a third of its time, and the link ended after all of it") {
    Bench bench;
    bench.pass(1, {.pending = 1, .answers = 7});  // the question is new
    CHECK(bench.pass(9, unanswered) == 0);
    CHECK(bench.watch.silence() == Silence::none);
    bench.pass(1, unanswered);
    CHECK(bench.watch.silence() == Silence::broker);
    CHECK(bench.pass(19, unanswered) == 0);
    CHECK(bench.pass(1, unanswered) == 1);
    CHECK(bench.pass(100, unanswered) == 0);
}

TEST_CASE("a broker that answers one question after the other is not silent, however many are left") {
    Bench bench;
    for (std::uint64_t i = 0; i < 100; ++i) CHECK(bench.pass(5, {.pending = 100 - i, .answers = i}) == 0);
    CHECK(bench.watch.silence() == Silence::none);
}

TEST_CASE("an answer may wait long behind large messages, but not for ever") {
    Bench bench;
    const Second behind{.busy = true, .pending = 1, .answers = 7};
    bench.pass(1, {.answers = 7});
    CHECK(bench.pass(99, behind) == 0);
    CHECK(bench.watch.silence() == Silence::none);
    bench.pass(1, behind);
    CHECK(bench.watch.silence() == Silence::broker);
    CHECK(bench.pass(199, behind) == 0);
    CHECK(bench.pass(1, behind) == 1);
    CHECK(bench.pass(1000, behind) == 0);
}

TEST_CASE("no answer is due while reading is stopped or the alarm is on") {
    Bench bench;
    CHECK(bench.pass(100, {.pending = 1, .excused = true}) == 0);
    CHECK(bench.watch.silence() == Silence::none);
    bench.pass(9, {.pending = 1});
    CHECK(bench.watch.silence() == Silence::none);
}

TEST_CASE("connecting may take its time; beyond it is named, and tried to be ended once") {
    Bench bench;
    const Second connecting{.connecting = true, .lives = false};
    CHECK(bench.pass(19, connecting) == 0);
    CHECK(bench.watch.silence() == Silence::none);
    CHECK(bench.pass(1, connecting) == 1);
    CHECK(bench.watch.silence() == Silence::connecting);
    CHECK(bench.pass(1000, connecting) == 0);
    bench.watch.link_changed();
    CHECK(bench.watch.silence() == Silence::none);
}

TEST_CASE("a new connection begins anew") {
    Bench bench;
    bench.pass(14, stuck);
    bench.watch.link_changed();
    CHECK(bench.pass(14, stuck) == 0);
    CHECK(bench.pass(1, stuck) == 1);
}
