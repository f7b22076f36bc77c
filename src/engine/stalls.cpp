#include "engine/stalls.hpp"

#include "engine/guard_views.hpp"
#include "engine/watchdog.hpp"

#include <algorithm>

namespace retryd::engine {

using model::Cause;
using model::Milliseconds;
using ports::Link;
using Watch = core::ConsumerWatch::State;

namespace {

Milliseconds between(model::SteadyTime from, model::SteadyTime to) {
    return std::max(std::chrono::duration_cast<Milliseconds>(to - from), Milliseconds{0});
}

void add_consumer(const QueueState& queue, const model::Clock& now, std::vector<model::StallView>& stalls) {
    const auto add = [&](Cause cause) {
        stalls.push_back({cause, queue.consumer_trouble, between(queue.watch.since(), now.steady)});
    };
    if (queue.watch.is_misconfigured()) return add(Cause::consumer_misconfigured);
    if (queue.watch.state() == Watch::away) return add(Cause::consumer_away);
    if (queue.watch.state() == Watch::not_ready) return add(Cause::consumer_not_ready);
}

std::string draining_detail(const State& state) {
    if (state.drain == State::Drain::finishing) return "nothing new is taken, deliveries finish";
    if (state.drain == State::Drain::closing) return "the links are being closed";
    return "drained, waiting to be stopped";
}

void add_stuck_links(const State& state, const model::Clock& now, std::vector<model::StallView>& stalls) {
    for (const auto which : {Link::consume, Link::publish}) {
        const auto& watch = state.link(which).watch;
        const auto silence = watch.silence();
        if (silence == core::LinkWatch::Silence::none) continue;
        stalls.push_back({Cause::link_stuck, "the " + name_of(which) + " link: " + std::string(text_of(silence)),
                          between(watch.since(), now.steady)});
        return;
    }
}

void add_links(const State& state, const model::Clock& now, std::vector<model::StallView>& stalls) {
    for (const auto& link : state.links) {
        if (link.reconnect.is_up()) continue;
        stalls.push_back({Cause::broker_down, link.trouble, between(link.reconnect.since(), now.steady)});
        break;
    }
    add_stuck_links(state, now, stalls);
    if (state.copies.is_blocked())
        stalls.push_back({Cause::publish_blocked, state.blocked_why, between(state.blocked_since, now.steady)});
}

// The channel that the broker closed comes back soon, but what is at the consumer from before goes on for nothing.
bool is_ack_timeout(const QueueState& queue, const HandFacts& facts, std::size_t side) {
    return queue.ack_timeout[side] && (queue.intake[side].was_lost() || facts.orphans[side] > 0);
}

void add_source(const QueueState& queue, const HandFacts& facts, std::size_t side, const model::Clock& now,
                std::vector<model::StallView>& stalls) {
    const auto& intake = queue.intake[side];
    const auto& watch = queue.subscription[side];
    const auto& name = side == 0 ? queue.policy.name.value : queue.policy.lane.value;
    const auto lasting = between(intake.since(), now.steady);
    const auto detail = name + (queue.intake_trouble[side].empty() ? "" : ": " + queue.intake_trouble[side]);
    if (intake.is_missing()) {
        stalls.push_back({Cause::queue_missing, detail, lasting});
    } else if (is_ack_timeout(queue, facts, side)) {
        const auto late = ": " + std::to_string(facts.orphans[side]) + " deliveries go on whose acks the broker takes no more";
        stalls.push_back({Cause::ack_timeout, facts.orphans[side] > 0 ? name + late : detail, lasting});
    } else if (watch.doubt() != core::SubscriptionWatch::Doubt::none) {
        stalls.push_back(
            {Cause::subscription_lost, name + ": " + std::string(text_of(watch.doubt())), between(watch.since(), now.steady)});
    } else if (intake.was_lost()) {
        stalls.push_back({Cause::subscription_lost, detail, lasting});
    }
}

// What expired while the lane was away waits in the broker, unseen, for up to this long after the lane's return (seen on
// RabbitMQ 3.10: at-least-once dead-lettering tries again every three minutes).
constexpr Milliseconds dead_letter_wait = std::chrono::minutes{3};

void add_dead_letter_wait(const QueueState& queue, const model::Clock& now, std::vector<model::StallView>& stalls) {
    const bool in_use = (queue.lane_was_there && !queue.tiers.empty()) || queue.lots_found.value_or(false);
    if (queue.lane_back && in_use && now.steady - *queue.lane_back < dead_letter_wait) {
        stalls.push_back({Cause::broker_dead_letter_wait,
                          "the lane was away: what expired meanwhile comes back up to three minutes after its return",
                          between(*queue.lane_back, now.steady)});
        return;
    }
    for (const auto& [name, tier] : queue.tiers) {
        const auto since = tier.watch.shut_since();
        if (!since) continue;
        stalls.push_back({Cause::broker_dead_letter_wait,
                          name.value + " keeps messages beyond their time: look at its arguments and policies",
                          between(*since, now.steady)});
        return;
    }
}

void add_copies(const State& state, const QueueState& queue, const HandFacts& facts, const model::Clock& now,
                std::vector<model::StallView>& stalls) {
    if (facts.unroutable > 0)
        stalls.push_back({Cause::unroutable,
                          std::to_string(facts.unroutable) + " copies can't be placed, one for " + facts.example,
                          between(facts.unroutable_since, now.steady)});
    const auto late = state.copies.late_since(now.steady);
    if (late && queue.copying > 0)
        stalls.push_back(
            {Cause::confirm_late, std::to_string(queue.copying) + " copies are not confirmed", between(*late, now.steady)});
}

void add_breaker(const Guarded& guarded, const std::string& effect, const model::Clock& now,
                 std::vector<model::StallView>& stalls) {
    if (guarded.breaker.lets_all()) return;
    stalls.push_back({Cause::breaker_open, guarded.name + effect + ": " + explain(guarded, now),
                      between(guarded.breaker.since(), now.steady)});
}

// Until nobody waits any more.
void add_recovery(const Guarded& guarded, const model::Clock& now, std::vector<model::StallView>& stalls) {
    if (!guarded.recovery || !guarded.recovery->is_on() || !guarded.breaker.lets_all()) return;
    const auto rate = std::to_string(static_cast<int>(guarded.recovery->per_second() + 0.5));
    stalls.push_back({Cause::rate, guarded.name + " is back, and until nobody waits any more has " + rate + " calls a second",
                      between(guarded.breaker.since(), now.steady)});
}

void add_budget(const std::optional<core::Budget>& budget, const char* name, const model::Clock& now,
                std::vector<model::StallView>& stalls) {
    if (!budget || !budget->is_spent(now.steady)) return;
    stalls.push_back({Cause::budget_spent, std::string("that for ") + name, between(*budget->spent_since(), now.steady)});
}

void add_guards(const State& state, const QueueState& queue, const model::Clock& now, std::vector<model::StallView>& stalls) {
    const auto& guards = queue.guards;
    if (guards.paused) stalls.push_back({Cause::paused, "by " + guards.paused_by, between(*guards.paused, now.steady)});
    for (const auto* one : {&guards.consumer, &guards.refusals})
        if (*one) add_breaker(**one, "", now, stalls);
    for (const auto& need : queue.policy.needs) {
        const auto& dependency = state.dependencies[need.dependency];
        const bool pauses = (guards.pausing >> need.dependency & 1U) != 0;
        const auto* effect =
            dependency.fallback(now.steady) ? ", a fallback takes what needs it" : ", only what needs it waits";
        add_breaker(dependency.guarded, pauses ? "" : effect, now, stalls);
    }
    add_budget(guards.park, "parking", now, stalls);
    add_budget(guards.dead_letter, "dead letters", now, stalls);
    if (guards.lane_rate) {
        const auto rate = std::to_string(static_cast<int>(guards.lane_rate->per_second() + 0.5));
        const bool ordered = guards.operator_share < 1;
        const auto since = ordered || !guards.storm ? guards.throttled_at : guards.storm->since();
        const auto who = ordered ? "by " + guards.throttled_by + ", until `retryctl resume`: " : "";
        stalls.push_back({Cause::storm_damped, who + "the lane has " + rate + " calls a second", between(since, now.steady)});
    }
    if (guards.consumer) add_recovery(*guards.consumer, now, stalls);
    for (const auto& need : queue.policy.needs) add_recovery(state.dependencies[need.dependency].guarded, now, stalls);
    const bool waits = guards.rate && !guards.rate->has(now.steady) &&
                       (!queue.ready[at(model::Side::work)].empty() || !queue.ready[at(model::Side::lane)].empty());
    if (waits) stalls.push_back({Cause::rate, "deliver.rate is reached", Milliseconds{0}});
}

}  // namespace

std::vector<HandFacts> look_through(const State& state) {
    std::vector<HandFacts> found(state.queues.size());
    for (const auto& [key, held] : state.hand.all()) {
        auto& facts = found[held.queue().value];
        if (held.stay.standing != core::Standing::trusted) ++facts.suspects;
        if (held.orphan && held.state == Held::State::at_consumer) ++facts.orphans[at(held.side())];
        if (held.state != Held::State::copying || !state.copies.is_unroutable(key)) continue;
        ++facts.unroutable;
        facts.unroutable_since = std::min(facts.unroutable_since, held.since);
        facts.example = state.copies.target(key).value;
        if (const auto why = state.copies.trouble(key); !why.empty()) facts.example += ": " + why;
    }
    return found;
}

std::vector<model::StallView> stalls_of(const State& state, const QueueState& queue, const HandFacts& facts,
                                        const model::Clock& now) {
    std::vector<model::StallView> stalls;
    if (state.drain != State::Drain::no)
        stalls.push_back({Cause::draining, draining_detail(state), between(state.drain_since, now.steady)});
    if (links_are_closed(state)) return stalls;  // the rest is its consequence
    add_links(state, now, stalls);
    add_consumer(queue, now, stalls);
    add_guards(state, queue, now, stalls);
    for (std::size_t side = 0; side < queue.intake.size(); ++side) add_source(queue, facts, side, now, stalls);
    add_dead_letter_wait(queue, now, stalls);
    add_copies(state, queue, facts, now, stalls);
    if (state.memory_full)
        stalls.push_back({Cause::memory, std::to_string(state.hand.bytes()) + " bytes in hand",
                          between(state.memory_full_since, now.steady)});
    return stalls;
}

}  // namespace retryd::engine
