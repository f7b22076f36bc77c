// The decision for a message where the guards have a say.

#include "core/decide.hpp"

#include "unit/core/decide_bench.hpp"

#include <catch2/catch.hpp>

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

core::Stay from(Side side, model::Ledger ledger = {}) {
    core::Stay stay;
    stay.side = side;
    stay.ledger = ledger;
    return stay;
}

}  // namespace

TEST_CASE("where too much fails there are no quick tries, and in a storm the backoff is longer") {
    const auto policy = policy_with({10ms}, {1s, 2s, 4s});
    const auto with = [&](const core::GuardsView& guards, const core::Stay& stay) {
        return core::decide(policy, stay, judgement(Outcome::transient), false, noon, 0, guards);
    };
    CHECK(with({}, from(Side::work)).kind == Verdict::Kind::wait);
    CHECK(with({.no_quick = true}, from(Side::work)).wait == 1s);
    CHECK(with({.no_quick = true, .stretch = 1}, from(Side::work)).wait == 2s);
    CHECK(with({.no_quick = true, .stretch = 1}, from(Side::work)).ledger.retries == 1);
    CHECK(with({.no_quick = true, .stretch = 9}, from(Side::work)).wait == 4s);
}

TEST_CASE("a failed probe is held and charged nothing, unless it was lost or will never work") {
    const auto policy = policy_with({10ms}, {1s});
    const core::GuardsView probe{.is_probe = true};
    const auto verdict = [&](Outcome outcome) {
        return core::decide(policy, from(Side::work), judgement(outcome), true, noon, 0, probe);
    };
    for (const auto outcome : {Outcome::transient, Outcome::timeout}) {
        CHECK(verdict(outcome).tier == model::TierKind::hold);
        CHECK(verdict(outcome).held_by == core::HeldBy::probe);
        CHECK(verdict(outcome).ledger.attempts == 0);
        CHECK(verdict(outcome).ledger.held == 15s);
    }
    CHECK(verdict(Outcome::success).kind == Verdict::Kind::ack);
    CHECK(verdict(Outcome::lost).ledger.attempts == 1);
    CHECK(verdict(Outcome::permanent).reason == Reason::permanent);
}

TEST_CASE("what no budget allows to give up waits, as if it had not been delivered") {
    auto policy = policy_with({}, {1s});
    policy.age_limit = 1h;
    policy.hold.max = 20s;
    model::Ledger spent;
    spent.attempts = 2;
    spent.retries = 1;
    model::Ledger old = spent;
    old.retries = 0;
    old.first_failed = noon - 3h;
    model::Ledger held = spent;
    held.held = 19s;
    struct Row {
        model::Ledger ledger;
        Outcome outcome;
        Reason reason;
    };
    for (const auto& row :
         {Row{spent, Outcome::transient, Reason::exhausted}, Row{spent, Outcome::permanent, Reason::permanent},
          Row{old, Outcome::transient, Reason::age}, Row{held, Outcome::throttled, Reason::held}}) {
        const auto with = [&](const core::GuardsView& guards) {
            return core::decide(policy, from(Side::lane, row.ledger), judgement(row.outcome), true, noon, 0, guards);
        };
        CHECK(with({}).reason == row.reason);
        const bool dead_letter = row.reason == Reason::permanent;
        CHECK(with({.park_spent = dead_letter, .dead_letter_spent = !dead_letter}).reason == row.reason);
        const auto kept = with({.park_spent = !dead_letter, .dead_letter_spent = dead_letter});
        CHECK(kept.tier == model::TierKind::hold);
        CHECK(kept.held_by == (dead_letter ? core::HeldBy::dead_letter_budget : core::HeldBy::park_budget));
        CHECK(kept.ledger.attempts == row.ledger.attempts);
        CHECK(kept.ledger.retries == row.ledger.retries);
        CHECK(kept.ledger.held > row.ledger.held);
    }
    spent.expires = noon + 1s;
    const auto expired =
        core::decide(policy, from(Side::lane, spent), judgement(Outcome::transient), true, noon, 0, {.park_spent = true});
    CHECK(expired.reason == Reason::expired);  // the message's own wall needs no budget
}

TEST_CASE("what a guard bars is put aside without an attempt and for ever, if need be; a short wait counts as no hold") {
    auto policy = policy_with({}, {1s});
    policy.hold.delays = {5s, 30s};
    policy.hold.max = 6s;
    model::Ledger ledger;
    ledger.held = 6s;
    const auto climbed = core::put_aside(policy, from(Side::lane, ledger), noon, true);
    CHECK(climbed.kind == Verdict::Kind::tier);
    CHECK(climbed.wait == 30s);
    CHECK(climbed.ledger.held == 36s);
    CHECK(climbed.ledger.attempts == 0);
    const auto soon = core::put_aside(policy, from(Side::lane, ledger), noon, false);
    CHECK(soon.wait == 5s);
    CHECK(soon.ledger.held == 6s);
}
