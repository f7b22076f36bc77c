#include "core/decide.hpp"

#include "core/ladder.hpp"

#include <algorithm>

namespace retryd::core {

using model::Ledger;
using model::Milliseconds;
using model::Outcome;
using model::QueuePolicy;
using model::Reason;
using model::WallTime;

namespace {

constexpr Milliseconds early_in_hand{1000};         // what is earlier than this makes one more hop
constexpr std::uint32_t shared_losses_at_once = 2;  // more of them climb the hold ladder, so that they cannot spin

Verdict to_lot(Ledger ledger, Reason reason) {
    ledger.not_before.reset();
    ledger.last_wait = Milliseconds{0};
    return {.kind = Verdict::Kind::lot, .reason = reason, .ledger = std::move(ledger)};
}

Verdict to_lane(Ledger ledger) {
    ledger.not_before.reset();
    ledger.last_wait = Milliseconds{0};
    return {.kind = Verdict::Kind::lane, .ledger = ledger};
}

bool past_expiry(const Ledger& ledger, WallTime then) {
    return ledger.expires && then >= *ledger.expires;
}

// A copy into a hold queue: a hop of a wait that ends at `end`.
Verdict to_hold(Ledger ledger, Milliseconds hop, WallTime now, WallTime end) {
    if (past_expiry(ledger, std::max(end, now + hop))) return to_lot(ledger, Reason::expired);
    ledger.not_before = end;
    return {.kind = Verdict::Kind::tier, .wait = hop, .tier = model::TierKind::hold, .ledger = ledger};
}

// The first hop of a wait of `whole`, however long the queue's own time is.
Verdict wait_in_hold(Ledger ledger, Milliseconds hop, Milliseconds whole, WallTime now) {
    ledger.last_wait = whole;
    return to_hold(ledger, hop, now, now + whole);
}

// Held time is counted when the hold begins, all of it.
Verdict wait_held(Ledger ledger, Milliseconds hop, Milliseconds whole, WallTime now) {
    ledger.held += whole;
    return wait_in_hold(ledger, hop, whole, now);
}

bool is_spent(const GuardsView& guards, Reason reason) {
    switch (reason) {
        case Reason::exhausted:
        case Reason::age:
        case Reason::held: return guards.park_spent;
        case Reason::permanent: return guards.dead_letter_spent;
        case Reason::expired:
        case Reason::poison: break;
    }
    return false;
}

// Into the lot, or where the budget does not allow that, a rung higher in the hold ladder as it was `before`: as if it had not
// been delivered.
Verdict give_up(const QueuePolicy& policy, const GuardsView& guards, const Ledger& before, const Ledger& ledger, Reason reason,
                WallTime now) {
    if (!is_spent(guards, reason)) return to_lot(ledger, reason);
    const auto hop = hold_climb(policy.hold, before.held);
    auto verdict = wait_held(before, hop, hop, now);
    if (verdict.kind == Verdict::Kind::tier)
        verdict.held_by = reason == Reason::permanent ? HeldBy::dead_letter_budget : HeldBy::park_budget;
    return verdict;
}

Verdict hold_for(const QueuePolicy& policy, const GuardsView& guards, const Ledger& ledger, Milliseconds hop,
                 Milliseconds whole, WallTime now) {
    if (policy.hold.max && ledger.held + whole > *policy.hold.max)
        return give_up(policy, guards, ledger, ledger, Reason::held, now);
    return wait_held(ledger, hop, whole, now);
}

Verdict hold_until(const QueuePolicy& policy, const GuardsView& guards, const Ledger& ledger, Milliseconds whole,
                   WallTime now) {
    return hold_for(policy, guards, ledger, hold_hop(policy.hold, whole, whole), whole, now);
}

Verdict climb(const QueuePolicy& policy, const GuardsView& guards, const Ledger& ledger, WallTime now) {
    const auto hop = hold_climb(policy.hold, ledger.held);
    return hold_for(policy, guards, ledger, hop, hop, now);
}

Verdict throttled(const QueuePolicy& policy, const GuardsView& guards, const Stay& stay, const Judgement& judgement,
                  WallTime now, std::uint64_t random) {
    const auto asked = judgement.retry_after ? judgement.retry_after : judgement.delay;
    if (asked) return hold_until(policy, guards, stay.ledger, spread_retry_after(policy, *asked, random), now);
    return climb(policy, guards, stay.ledger, now);
}

bool too_old(const QueuePolicy& policy, const Ledger& ledger, WallTime then) {
    return policy.age_limit && ledger.first_failed && then - *ledger.first_failed - ledger.held > *policy.age_limit;
}

// The next delayed retry, or the lot where there is none. `before`: as it was before this failure.
Verdict next_rung(const QueuePolicy& policy, const GuardsView& guards, const Ledger& before, Ledger ledger,
                  const Judgement& judgement, WallTime now, std::uint64_t random) {
    const auto& retry = policy.retry;
    const auto end = [&](Reason reason) { return give_up(policy, guards, before, ledger, reason, now); };
    if (ledger.retries >= retry.max || (retry.delays.empty() && !judgement.delay)) return end(Reason::exhausted);
    const auto delay = judgement.delay ? *judgement.delay : rung_delay(retry, ledger.retries + guards.stretch);
    const auto wait = pick_tier(retry, delay, random);
    if (too_old(policy, ledger, now + wait)) return end(Reason::age);
    ++ledger.retries;
    if (judgement.retry_after) {
        const auto asked = spread_retry_after(policy, *judgement.retry_after, random);
        if (asked > wait && too_old(policy, ledger, now + asked)) return end(Reason::age);
        // It waits in the hold ladder, but it is a retry's wait: an attempt is spent, no time is held.
        if (asked > wait) return wait_in_hold(ledger, hold_hop(policy.hold, asked, asked), asked, now);
    }
    if (past_expiry(ledger, now + wait)) return to_lot(ledger, Reason::expired);
    ledger.not_before = now + wait;
    ledger.last_wait = wait;
    return {.kind = Verdict::Kind::tier, .wait = wait, .rung = ledger.retries, .ledger = ledger};
}

// Quick retries belong to the first delivery that counts. What comes back from a delay gets one try; what was lost with
// others, or comes for its trial, was not delivered yet as far as the count goes.
bool is_first_delivery(const Stay& stay) {
    if (stay.side == model::Side::work) return true;
    return !stay.ledger.not_before && stay.ledger.attempts == stay.quick_used;
}

bool may_retry_quickly(const QueuePolicy& policy, const Stay& stay, const Judgement& judgement) {
    return judgement.outcome == Outcome::transient && is_first_delivery(stay) && !stay.draining && !judgement.retry_after &&
           !judgement.delay && stay.quick_used < policy.retry.quick.size();
}

// A message that fails as a probe fails in somebody's stead: it waits, and is charged nothing. Not so one that was lost, which
// may be what took its consumer down.
Verdict hold_probe(const QueuePolicy& policy, const GuardsView& guards, const Stay& stay, WallTime now) {
    auto verdict = climb(policy, guards, stay.ledger, now);
    if (verdict.kind == Verdict::Kind::tier && !verdict.held_by) verdict.held_by = HeldBy::probe;
    return verdict;
}

Verdict failed(const QueuePolicy& policy, const GuardsView& guards, const Stay& stay, const Judgement& judgement, WallTime now,
               std::uint64_t random) {
    const bool was_processed = judgement.outcome == Outcome::transient || judgement.outcome == Outcome::timeout;
    if (guards.is_probe && was_processed) return hold_probe(policy, guards, stay, now);
    Ledger ledger = stay.ledger;
    ++ledger.attempts;
    if (!ledger.first_failed) ledger.first_failed = now;
    ledger.last_failed = now;
    if (judgement.outcome == Outcome::permanent) return give_up(policy, guards, stay.ledger, ledger, Reason::permanent, now);
    if (ledger.suspect && *ledger.suspect >= policy.solo_tries) return to_lot(ledger, Reason::poison);
    if (!guards.no_quick && may_retry_quickly(policy, stay, judgement)) {
        const auto wait = policy.retry.quick[stay.quick_used];
        if (!past_expiry(ledger, now + wait)) return {.kind = Verdict::Kind::wait, .wait = wait, .ledger = ledger};
    }
    return next_rung(policy, guards, stay.ledger, ledger, judgement, now, random);
}

// A loss that others shared charges nobody: back through the lane at once, later by the hold ladder.
Verdict lost_together(const QueuePolicy& policy, const GuardsView& guards, const Stay& stay, WallTime now) {
    Ledger ledger = stay.ledger;
    ++ledger.lost;
    if (stay.standing == Standing::on_trial) ledger.suspect = ledger.suspect.value_or(1) - 1;  // that was no trial
    // The copy begins without returns: what was a suspect by them, and has one more piece of evidence, stays accused.
    if (stay.standing != Standing::trusted && !ledger.suspect) ledger.suspect = 0;
    if (ledger.lost > shared_losses_at_once) return climb(policy, guards, ledger, now);
    return to_lane(ledger);
}

// How long the wait can have been that ends at not_before: as the history says; without one a retry's wait began at the last
// failure, and a hold's is counted in the held time.
Milliseconds longest_wait(const Ledger& ledger) {
    if (ledger.last_wait > Milliseconds{0}) return ledger.last_wait;
    const auto since_failure = ledger.last_failed ? *ledger.not_before - *ledger.last_failed : Milliseconds{0};
    return std::max(ledger.held, since_failure);
}

// A reply, or at least none of the kind that poison leaves: whatever the message was suspected of, it is not that.
Stay cleared(Stay stay) {
    stay.ledger.lost = 0;
    stay.ledger.suspect.reset();
    return stay;
}

}  // namespace

std::uint32_t max_attempts(const QueuePolicy& policy) {
    return 1 + static_cast<std::uint32_t>(policy.retry.quick.size()) + policy.retry.max;
}

std::string_view to_text(HeldBy guard) {
    switch (guard) {
        case HeldBy::breaker: return "breaker";
        case HeldBy::probe: return "probe";
        case HeldBy::park_budget: return "park-budget";
        case HeldBy::dead_letter_budget: return "dead-letter-budget";
    }
    return "";
}

Verdict decide(const QueuePolicy& policy, const Stay& stay, const Judgement& judgement, bool alone, WallTime now,
               std::uint64_t random, const GuardsView& guards) {
    switch (judgement.outcome) {
        case Outcome::success:
        case Outcome::drop: return {.kind = Verdict::Kind::ack, .ledger = stay.ledger};
        case Outcome::endpoint:
        case Outcome::unavailable: return {.kind = Verdict::Kind::again, .ledger = stay.ledger};
        case Outcome::throttled: return throttled(policy, guards, cleared(stay), judgement, now, random);
        case Outcome::lost:
            // While everything stops, the consumer may stop too: that says nothing about the message.
            if (stay.draining) return {.kind = Verdict::Kind::again, .ledger = stay.ledger};
            return alone ? failed(policy, guards, stay, judgement, now, random) : lost_together(policy, guards, stay, now);
        case Outcome::transient:
        case Outcome::permanent:
        case Outcome::timeout: return failed(policy, guards, cleared(stay), judgement, now, random);
    }
    return {.kind = Verdict::Kind::again, .ledger = stay.ledger};
}

std::optional<Verdict> on_arrival(const QueuePolicy& policy, const Stay& stay, WallTime now) {
    if (stay.side == model::Side::work) return std::nullopt;  // the broker itself minds the expiry of what it holds
    if (past_expiry(stay.ledger, now)) return to_lot(stay.ledger, Reason::expired);
    if (stay.standing == Standing::poison) return to_lot(stay.ledger, Reason::poison);
    if (!stay.ledger.not_before) return std::nullopt;
    const auto left = *stay.ledger.not_before - now;
    const auto whole = longest_wait(stay.ledger);
    if (left <= Milliseconds{0}) return std::nullopt;
    // More left than the whole wait was: a clock has been set back, here or where the copy was made.
    if (whole > Milliseconds{0} && left > whole + early_in_hand) return std::nullopt;
    if (left < early_in_hand) return Verdict{.kind = Verdict::Kind::wait, .wait = left, .ledger = stay.ledger};
    return to_hold(stay.ledger, hold_hop(policy.hold, left, std::max(whole, left)), now, *stay.ledger.not_before);
}

Verdict stamp(const Stay& stay) {
    Ledger ledger = stay.ledger;
    ledger.suspect = ledger.suspect.value_or(0) + 1;
    return to_lane(ledger);
}

Verdict step_back(const Stay& stay) {
    Ledger ledger = stay.ledger;
    ledger.suspect = ledger.suspect.value_or(0) - (stay.standing == Standing::on_trial ? 1 : 0);
    return to_lane(ledger);
}

Ledger not_tried(const Stay& stay) {
    return stay.standing == Standing::on_trial ? step_back(stay).ledger : stay.ledger;
}

Verdict hold(const QueuePolicy& policy, const Stay& stay, WallTime now, const GuardsView& guards) {
    return climb(policy, guards, not_tried(stay), now);
}

Verdict put_aside(const QueuePolicy& policy, const Stay& stay, WallTime now, bool climbs) {
    const auto ledger = not_tried(stay);
    const auto hop = hold_climb(policy.hold, climbs ? ledger.held : Milliseconds{0});
    return climbs ? wait_held(ledger, hop, hop, now) : wait_in_hold(ledger, hop, hop, now);
}

Verdict refuse(const QueuePolicy& policy, const Stay& stay, WallTime now, const GuardsView& guards) {
    return give_up(policy, guards, stay.ledger, stay.ledger, Reason::permanent, now);
}

}  // namespace retryd::core
