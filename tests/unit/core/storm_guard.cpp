#include "core/storm_guard.hpp"

#include <catch2/catch.hpp>

#include <random>

using namespace retryd;
using namespace std::chrono_literals;
using core::StormGuard;
using model::SteadyTime;
using State = StormGuard::State;

namespace {

constexpr auto between_looks = 15s;
const model::StormPolicy policy;

struct Bench {
    StormGuard guard{policy};
    SteadyTime now{1h};

    State look(std::uint64_t work, std::uint64_t ladder, double failure_rate) {
        now += between_looks;
        guard.looked({work, 0, ladder, 1000, static_cast<std::uint32_t>(failure_rate * 1000)}, now);
        return guard.state();
    }
};

}  // namespace

TEST_CASE("what the figures say of a queue that was calm before") {
    struct Row {
        const char* what;
        std::uint64_t work_before, ladder_before, work, ladder;
        double failure_rate;
        State state;
    };
    for (const auto& row : {
             Row{"one message becomes four", 1, 1, 0, 4, 1, State::calm},
             Row{"a ladder that is not deep", 0, 100, 0, 499, 1, State::calm},
             Row{"a plain spike", 300, 50, 1500, 150, 0.01, State::spike},
             Row{"a plain spike of which nothing waits, and all that waits are retries", 0, 120, 0, 600, 0.02, State::calm},
             Row{"a spike under which a few more fail", 300, 50, 30'000, 2000, 0.06, State::spike},
             Row{"work waits as always", 5000, 0, 5000, 0, 0, State::calm},
             Row{"a fifth fails and the ladder has grown threefold", 0, 200, 50'000, 600, 0.2, State::storm},
             Row{"a fifth fails, the ladder is steady and small beside the work", 50'000, 600, 50'000, 600, 0.2, State::calm},
             Row{"some retries, many failures", 4500, 600, 4500, 700, 0.1, State::watch},
             Row{"mostly retries, many failures", 500, 600, 500, 700, 0.1, State::storm},
         }) {
        CAPTURE(row.what);
        Bench bench;
        bench.look(row.work_before, row.ladder_before, 0);
        CHECK(bench.look(row.work, row.ladder, row.failure_rate) == row.state);
    }
}

TEST_CASE("a fifth fails and the ladder grows threefold within 90 s: a storm; over a longer time: none") {
    Bench bench;
    std::uint64_t ladder = 400;
    bench.look(100'000, ladder, 0.2);
    for (int i = 0; i < 6 && bench.guard.state() == State::calm; ++i) bench.look(100'000, ladder += 160, 0.2);
    CHECK(bench.guard.state() == State::storm);
    Bench slow;
    ladder = 400;
    for (int i = 0; i < 40; ++i) CHECK(slow.look(1'000'000, ladder += 40, 0.2) == State::calm);
}

TEST_CASE("in a storm the lane has a fifth of its normal rate and the backoff is longer; then it grows back") {
    Bench bench;
    for (int i = 0; i < 20; ++i) bench.look(0, 60, 0.02);
    CHECK(bench.guard.lane_share() == 1);
    CHECK(bench.guard.stretch() == 0);
    bench.look(0, 5000, 0.5);
    REQUIRE(bench.guard.state() == State::storm);
    CHECK(bench.guard.lane_share() == 0.2);
    CHECK(bench.guard.stretch() == 1);
    for (int i = 0; i < 10; ++i) bench.look(0, 6000, 0.3);
    CHECK(bench.guard.state() == State::storm);
    CHECK(bench.guard.lane_share() == 0.2);
    int looks = 0;
    for (; bench.guard.state() == State::storm; ++looks) bench.look(0, 6000, 0.02);
    CHECK(looks * between_looks >= policy.calm_for);
    CHECK(looks * between_looks < policy.calm_for + policy.within + between_looks);
    CHECK(bench.guard.stretch() == 0);
    std::vector<double> shares;
    for (; bench.guard.lane_share() < 1; bench.look(0, 3000, 0.02)) shares.push_back(bench.guard.lane_share());
    CHECK(shares == std::vector<double>{0.2, 0.4, 0.8});
}

TEST_CASE("a storm does not end in between, only after a whole while of calm") {
    Bench bench;
    bench.look(0, 600, 0.5);
    REQUIRE(bench.guard.state() == State::storm);
    for (int i = 0; i < 30; ++i) CHECK(bench.look(0, 600, i % 4 == 0 ? 0.1 : 0.0) == State::storm);
}

TEST_CASE("a pause freezes the state, and what piled up meanwhile is no growth") {
    Bench bench;
    bench.look(0, 300, 0.2);
    bench.guard.paused();
    bench.now += 1h;
    CHECK(bench.look(1'000'000, 900, 0.2) == State::calm);
    Bench in_storm;
    in_storm.look(0, 600, 0.5);
    in_storm.look(0, 600, 0);
    in_storm.guard.paused();
    in_storm.now += 1h;
    CHECK(in_storm.look(0, 600, 0) == State::storm);
}

TEST_CASE("over seeds: the state is never a trap") {
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
        std::mt19937_64 random(seed);
        Bench bench;
        for (int i = 0; i < 100; ++i) {
            if (random() % 20 == 0) bench.guard.paused();
            bench.look(random() % 5000, random() % 5000, 0.01 * static_cast<double>(random() % 100));
            REQUIRE((bench.guard.state() != State::storm || bench.guard.lane_share() == policy.damp.value));
        }
        for (int i = 0; i < 20; ++i) bench.look(0, 4000, 0.01);  // few fail, and many still wait
        CHECK(bench.guard.state() == State::calm);
        CHECK(bench.guard.lane_share() == 1);
    }
}
