#include "core/decide.hpp"

#include "unit/core/decide_bench.hpp"

#include <catch2/catch.hpp>

#include <random>

using namespace retryd;
using namespace std::chrono_literals;
using bench::judgement;
using bench::noon;
using bench::policy_with;
using core::Verdict;
using model::Milliseconds;
using model::Outcome;
using model::Reason;
using model::Side;
using model::WallTime;

namespace {

Verdict decide(const model::QueuePolicy& policy, const core::Stay& stay, const core::Judgement& made, bool alone = false) {
    return core::decide(policy, stay, made, alone, noon, 0);
}

core::Stay from(Side side, model::Ledger ledger = {}) {
    core::Stay stay;
    stay.side = side;
    stay.ledger = ledger;
    return stay;
}

// Lets a message fail until it is parked; what became of it.
struct Life {
    std::uint32_t deliveries = 0, quick = 0;
    std::vector<Milliseconds> waits;
    Verdict last;
};
Life live(const model::QueuePolicy& policy, Outcome outcome) {
    Life life;
    auto stay = from(Side::work);
    for (;;) {
        ++life.deliveries;
        life.last = decide(policy, stay, judgement(outcome), true);
        stay.ledger = life.last.ledger;
        if (life.last.kind == Verdict::Kind::wait) {
            ++life.quick;
            ++stay.quick_used;
        } else if (life.last.kind == Verdict::Kind::tier) {
            life.waits.push_back(life.last.wait);
            stay = from(Side::lane, life.last.ledger);
        } else {
            return life;
        }
        REQUIRE(life.deliveries < 100);
    }
}

}  // namespace

TEST_CASE("success and drop end it, endpoint and unavailable say nothing about the message") {
    const auto policy = policy_with({}, {1s});
    CHECK(decide(policy, from(Side::work), judgement(Outcome::success)).kind == Verdict::Kind::ack);
    CHECK(decide(policy, from(Side::work), judgement(Outcome::drop)).kind == Verdict::Kind::ack);
    for (const auto outcome : {Outcome::endpoint, Outcome::unavailable}) {
        const auto verdict = decide(policy, from(Side::work), judgement(outcome));
        CHECK(verdict.kind == Verdict::Kind::again);
        CHECK(verdict.ledger == model::Ledger{});
    }
}

TEST_CASE("a message has exactly 1 + quick + delayed attempts, then it is exhausted") {
    struct Row {
        std::vector<Milliseconds> quick, delays;
        std::uint32_t deliveries;
    };
    for (const auto& row : std::vector<Row>{
             {{}, {100ms, 200ms, 400ms}, 4}, {{10ms, 20ms}, {100ms, 200ms, 400ms}, 6}, {{}, {}, 1}, {{10ms}, {}, 2}}) {
        const auto policy = policy_with(row.quick, row.delays);
        const auto life = live(policy, Outcome::transient);
        CHECK(life.deliveries == row.deliveries);
        CHECK(core::max_attempts(policy) == row.deliveries);
        CHECK(life.quick == row.quick.size());
        CHECK(life.waits == row.delays);
        CHECK(life.last.kind == Verdict::Kind::lot);
        CHECK(life.last.reason == Reason::exhausted);
        CHECK(life.last.ledger.attempts == row.deliveries);
        CHECK(life.last.ledger.first_failed == noon);
    }
}

TEST_CASE("more retries than delays repeat the last delay") {
    auto policy = policy_with({}, {100ms, 200ms});
    policy.retry.max = 4;
    CHECK(live(policy, Outcome::transient).waits == std::vector<Milliseconds>{100ms, 200ms, 200ms, 200ms});
}

TEST_CASE("a permanent failure spends its attempt and goes to the dead letters") {
    const auto verdict = decide(policy_with({10ms}, {1s}), from(Side::work), judgement(Outcome::permanent));
    CHECK(verdict.kind == Verdict::Kind::lot);
    CHECK(verdict.reason == Reason::permanent);
    CHECK(verdict.ledger.attempts == 1);
}

TEST_CASE("quick retries are for transient failures of fresh messages only, without a Retry-After") {
    const auto policy = policy_with({10ms}, {1s});
    CHECK(decide(policy, from(Side::work), judgement(Outcome::transient)).kind == Verdict::Kind::wait);
    model::Ledger back;
    back.not_before = noon;
    CHECK(decide(policy, from(Side::lane, back), judgement(Outcome::transient)).kind == Verdict::Kind::tier);
    CHECK(decide(policy, from(Side::work), judgement(Outcome::timeout)).kind == Verdict::Kind::tier);
    auto asked = judgement(Outcome::transient);
    asked.retry_after = 100ms;
    CHECK(decide(policy, from(Side::work), asked).kind == Verdict::Kind::tier);
    auto draining = from(Side::work);
    draining.draining = true;
    CHECK(decide(policy, draining, judgement(Outcome::transient)).kind == Verdict::Kind::tier);
}

TEST_CASE("a Retry-After longer than the rung spends the retry and waits in the hold ladder") {
    auto asked = judgement(Outcome::transient);
    asked.retry_after = 5min;
    const auto verdict = decide(policy_with({}, {1s}), from(Side::work), asked);
    CHECK(verdict.kind == Verdict::Kind::tier);
    CHECK(verdict.tier == model::TierKind::hold);
    CHECK(verdict.wait == 5min);
    CHECK(verdict.ledger.retries == 1);
    CHECK(verdict.ledger.not_before == noon + 5min);
    CHECK(verdict.ledger.held == 0ms);
    CHECK(verdict.ledger.attempts == 1);
    asked.retry_after = 500ms;
    CHECK(decide(policy_with({}, {1s}), from(Side::work), asked).tier == model::TierKind::delay);
}

TEST_CASE("throttled spends no attempt, waits as long as it was asked to, else climbs") {
    const auto policy = policy_with({10ms}, {1s});
    auto asked = judgement(Outcome::throttled);
    const auto climbed = decide(policy, from(Side::work), asked);
    CHECK(climbed.tier == model::TierKind::hold);
    CHECK(climbed.wait == 15s);
    CHECK(climbed.ledger.attempts == 0);
    CHECK(climbed.ledger.retries == 0);
    CHECK(climbed.ledger.held == 15s);
    asked.retry_after = 60s;
    const auto until = decide(policy, from(Side::work), asked);
    CHECK(until.wait == 60s);
    CHECK(until.ledger.not_before == noon + 60s);
    CHECK_FALSE(until.ledger.first_failed);
}

TEST_CASE("a retry that waits for a Retry-After grows older, and is not held") {
    auto policy = policy_with({}, {1s, 1s});
    policy.age_limit = 60s;
    policy.hold.max = 2s;
    auto asked = judgement(Outcome::transient);
    asked.retry_after = 30s;
    const auto first = decide(policy, from(Side::work), asked);
    REQUIRE(first.kind == Verdict::Kind::tier);
    asked.retry_after = 120s;
    const auto second = decide(policy, from(Side::lane, first.ledger), asked);
    CHECK(second.kind == Verdict::Kind::lot);
    CHECK(second.reason == Reason::age);
}

TEST_CASE("a hold is counted once, as long as it was asked for, whatever hops it takes") {
    auto asked = judgement(Outcome::throttled);
    asked.retry_after = 3h;
    const auto policy = policy_with({}, {1s});
    const auto first = decide(policy, from(Side::work), asked);
    CHECK(first.wait == 2h);
    CHECK(first.ledger.held == 3h);
    const auto next = core::on_arrival(policy, from(Side::lane, first.ledger), noon + 2h);
    REQUIRE(next);
    CHECK(next->ledger.held == 3h);
}

TEST_CASE("held time has a limit of its own") {
    auto policy = policy_with({}, {1s});
    policy.hold.max = 1min;
    model::Ledger ledger;
    ledger.held = 50s;
    const auto verdict = decide(policy, from(Side::lane, ledger), judgement(Outcome::throttled));
    CHECK(verdict.kind == Verdict::Kind::lot);
    CHECK(verdict.reason == Reason::held);
}

TEST_CASE("age counts from the first failure, held time left out") {
    auto policy = policy_with({}, {10s, 10s, 10s});
    policy.age_limit = 60s;
    model::Ledger ledger;
    ledger.first_failed = noon - 55s;
    const auto old = decide(policy, from(Side::lane, ledger), judgement(Outcome::transient));
    CHECK(old.kind == Verdict::Kind::lot);
    CHECK(old.reason == Reason::age);
    ledger.held = 30s;
    CHECK(decide(policy, from(Side::lane, ledger), judgement(Outcome::transient)).kind == Verdict::Kind::tier);
}

TEST_CASE("no wait is scheduled past the message's own expiry") {
    const auto policy = policy_with({10ms}, {10s});
    model::Ledger ledger;
    ledger.expires = noon + 5s;
    CHECK(decide(policy, from(Side::work, ledger), judgement(Outcome::transient)).kind == Verdict::Kind::wait);
    ledger.not_before = noon;
    const auto verdict = decide(policy, from(Side::lane, ledger), judgement(Outcome::transient));
    CHECK(verdict.reason == Reason::expired);
    CHECK(decide(policy, from(Side::lane, ledger), judgement(Outcome::throttled)).reason == Reason::expired);
    ledger.expires = noon + 11s;
    CHECK(decide(policy, from(Side::lane, ledger), judgement(Outcome::transient)).kind == Verdict::Kind::tier);
}

TEST_CASE("a loss among others charges nobody, a loss alone is the message's own") {
    const auto policy = policy_with({10ms}, {1s});
    const auto shared = decide(policy, from(Side::work), judgement(Outcome::lost), false);
    CHECK(shared.kind == Verdict::Kind::lane);
    CHECK(shared.ledger.attempts == 0);
    CHECK(shared.ledger.lost == 1);
    const auto own = decide(policy, from(Side::work), judgement(Outcome::lost), true);
    CHECK(own.kind == Verdict::Kind::tier);
    CHECK(own.ledger.attempts == 1);
    CHECK(own.ledger.lost == 0);
}

TEST_CASE("a loss while everything stops is handed back uncounted") {
    auto stay = from(Side::work);
    stay.draining = true;
    const auto verdict = decide(policy_with({10ms}, {1s}), stay, judgement(Outcome::lost), true);
    CHECK(verdict.kind == Verdict::Kind::again);
    CHECK(verdict.ledger == model::Ledger{});
}

TEST_CASE("losses among others can't go round at speed") {
    const auto policy = policy_with({}, {1s});
    model::Ledger ledger;
    for (int i = 0; i < 2; ++i) {
        const auto verdict = decide(policy, from(Side::lane, ledger), judgement(Outcome::lost), false);
        CHECK(verdict.kind == Verdict::Kind::lane);
        ledger = verdict.ledger;
    }
    const auto verdict = decide(policy, from(Side::lane, ledger), judgement(Outcome::lost), false);
    CHECK(verdict.kind == Verdict::Kind::tier);
    CHECK(verdict.tier == model::TierKind::hold);
    CHECK(verdict.ledger.attempts == 0);
}

TEST_CASE("what comes back early waits in hand or makes one more hop") {
    const auto policy = policy_with({}, {10s});
    model::Ledger ledger;
    ledger.last_wait = 10s;
    const auto arrive = [&](Milliseconds early) {
        ledger.not_before = noon + early;
        return core::on_arrival(policy, from(Side::lane, ledger), noon);
    };
    CHECK_FALSE(arrive(0ms));
    CHECK_FALSE(arrive(-5s));
    REQUIRE(arrive(300ms));
    CHECK(arrive(300ms)->kind == Verdict::Kind::wait);
    CHECK(arrive(300ms)->wait == 300ms);
    REQUIRE(arrive(9s));
    CHECK(arrive(9s)->kind == Verdict::Kind::tier);
    CHECK(arrive(9s)->ledger.attempts == 0);
    CHECK_FALSE(arrive(24h));  // more than the whole wait: a clock was set back
    ledger.last_wait = 0s;     // no history was kept: a retry waits from its failure on, a hold is counted as held
    ledger.last_failed = noon + 24h - 10s;
    CHECK_FALSE(arrive(24h));
    ledger.last_failed = noon - 1s;
    CHECK(arrive(9s)->kind == Verdict::Kind::tier);
    ledger.last_failed.reset();
    ledger.held = 10s;
    CHECK_FALSE(arrive(24h));
    CHECK(arrive(9s)->kind == Verdict::Kind::tier);
}

TEST_CASE("a fresh message is never judged by what it says of itself, an expired one from the lane is not delivered") {
    const auto policy = policy_with({}, {10s});
    model::Ledger ledger;
    ledger.expires = noon - 1s;
    CHECK_FALSE(core::on_arrival(policy, from(Side::work, ledger), noon));
    CHECK(core::on_arrival(policy, from(Side::lane, ledger), noon)->reason == Reason::expired);
}

TEST_CASE("whatever happens, attempts stay under the limit and a hold spends none") {
    std::mt19937_64 random(7);
    const std::vector<Outcome> outcomes{Outcome::transient, Outcome::permanent, Outcome::throttled, Outcome::timeout,
                                        Outcome::lost};
    for (int life = 0; life < 2000; ++life) {
        const auto policy = policy_with({10ms, 20ms}, {100ms, 200ms, 400ms});
        auto stay = from(Side::work);
        for (int step = 0; step < 200; ++step) {
            const auto outcome = outcomes[random() % outcomes.size()];
            const bool alone = random() % 2 == 0;
            const auto before = stay.ledger.attempts;
            const auto verdict = core::decide(policy, stay, judgement(outcome), alone, noon, random());
            const bool charged = outcome != Outcome::throttled && (outcome != Outcome::lost || alone);
            REQUIRE(verdict.ledger.attempts == before + (charged ? 1 : 0));
            REQUIRE(verdict.ledger.attempts <= core::max_attempts(policy));
            REQUIRE(verdict.ledger.retries <= policy.retry.max);
            if (verdict.kind == Verdict::Kind::lot) break;
            const bool same_stay = verdict.kind == Verdict::Kind::wait;
            const auto quick = stay.quick_used + 1;
            stay = from(same_stay ? Side::work : Side::lane, verdict.ledger);
            if (same_stay) stay.quick_used = quick;
        }
    }
}

TEST_CASE("a loss in the last trial makes poison, one before it the next rung") {
    const auto policy = policy_with({}, {1s, 2s});
    model::Ledger ledger;
    ledger.lost = 2;
    ledger.suspect = 1;
    auto stay = from(Side::lane, ledger);
    stay.standing = core::Standing::on_trial;
    const auto first = decide(policy, stay, judgement(Outcome::lost), true);
    CHECK(first.kind == Verdict::Kind::tier);
    CHECK(first.ledger.suspect == 1);
    CHECK(first.ledger.attempts == 1);
    stay.ledger.suspect = 2;
    const auto last = decide(policy, stay, judgement(Outcome::lost), true);
    CHECK(last.kind == Verdict::Kind::lot);
    CHECK(last.reason == Reason::poison);
}

TEST_CASE("any reply, and a timeout, end the suspicion") {
    const auto policy = policy_with({}, {1s, 2s});
    model::Ledger ledger;
    ledger.lost = 2;
    ledger.suspect = 2;
    for (const auto outcome : {Outcome::transient, Outcome::permanent, Outcome::throttled, Outcome::timeout}) {
        const auto verdict = decide(policy, from(Side::lane, ledger), judgement(outcome));
        CHECK(verdict.ledger.lost == 0);
        CHECK_FALSE(verdict.ledger.suspect);
        CHECK(verdict.reason != Reason::poison);
    }
}

TEST_CASE("a suspect by returns that is lost with others stays accused, although its copy begins without returns") {
    auto stay = from(Side::work);
    stay.standing = core::Standing::suspect;
    const auto verdict = decide(policy_with({}, {1s}), stay, judgement(Outcome::lost));
    CHECK(verdict.kind == Verdict::Kind::lane);
    CHECK(verdict.ledger.suspect == 0);
    CHECK(verdict.ledger.lost == 1);
}

TEST_CASE("a stamp counts the trial that comes, and is taken back where it does not come") {
    auto stay = from(Side::work);
    const auto stamped = core::stamp(stay);
    CHECK(stamped.kind == Verdict::Kind::lane);
    CHECK(stamped.ledger.suspect == 1);
    stay = from(Side::lane, stamped.ledger);
    stay.standing = core::Standing::on_trial;
    CHECK(core::step_back(stay).ledger.suspect == 0);
    CHECK(core::hold(policy_with({}, {1s}), stay, noon).ledger.suspect == 0);
}

TEST_CASE("poison is parked when it comes back from its last trial") {
    auto stay = from(Side::lane);
    stay.standing = core::Standing::poison;
    const auto verdict = core::on_arrival(policy_with({}, {1s}), stay, noon);
    REQUIRE(verdict);
    CHECK(verdict->reason == Reason::poison);
}

TEST_CASE("what was lost with others has its quick tries still, what comes from a delay has not") {
    const auto policy = policy_with({10ms}, {1s});
    model::Ledger ledger;
    ledger.lost = 1;
    CHECK(decide(policy, from(Side::lane, ledger), judgement(Outcome::transient)).kind == Verdict::Kind::wait);
    ledger.not_before = noon - 1s;
    CHECK(decide(policy, from(Side::lane, ledger), judgement(Outcome::transient)).kind == Verdict::Kind::tier);
}

TEST_CASE("a trial that ends with a loss of somebody else's was none") {
    model::Ledger ledger;
    ledger.suspect = 2;
    auto stay = from(Side::lane, ledger);
    stay.standing = core::Standing::on_trial;
    const auto verdict = decide(policy_with({}, {1s}), stay, judgement(Outcome::lost));
    CHECK(verdict.kind == Verdict::Kind::lane);
    CHECK(verdict.ledger.suspect == 1);
}
