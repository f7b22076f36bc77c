#include "engine/views.hpp"

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

// The drain has closed the links, and nobody opens them again.
bool links_are_closed(const State& state) {
    return state.drain != State::Drain::no && state.drain != State::Drain::finishing;
}

std::string draining_detail(const State& state) {
    if (state.drain == State::Drain::finishing) return "nothing new is taken, deliveries finish";
    if (state.drain == State::Drain::closing) return "the links are being closed";
    return "drained, waiting to be stopped";
}

void add_links(const State& state, const model::Clock& now, std::vector<model::StallView>& stalls) {
    for (const auto& link : state.links) {
        if (link.reconnect.is_up()) continue;
        stalls.push_back({Cause::broker_down, link.trouble, between(link.reconnect.since(), now.steady)});
        return;
    }
    if (state.copies.is_blocked())
        stalls.push_back({Cause::publish_blocked, state.blocked_why, between(state.blocked_since, now.steady)});
}

void add_sources(const QueueState& queue, const model::Clock& now, std::vector<model::StallView>& stalls) {
    for (std::size_t side = 0; side < queue.intake.size(); ++side) {
        const auto& intake = queue.intake[side];
        const auto& name = side == 0 ? queue.policy.name : queue.policy.lane;
        const auto lasting = between(intake.since(), now.steady);
        const auto detail = name.value + (queue.intake_trouble[side].empty() ? "" : ": " + queue.intake_trouble[side]);
        if (intake.is_missing()) {
            stalls.push_back({Cause::queue_missing, detail, lasting});
        } else if (intake.was_lost()) {
            stalls.push_back({queue.ack_timeout[side] ? Cause::ack_timeout : Cause::subscription_lost, detail, lasting});
        }
    }
}

// What expired while the lane was away waits in the broker, unseen, for up to this long after the lane's return (seen on
// RabbitMQ 3.10: at-least-once dead-lettering tries again every three minutes).
constexpr Milliseconds dead_letter_wait = std::chrono::minutes{3};

void add_dead_letter_wait(const QueueState& queue, const model::Clock& now, std::vector<model::StallView>& stalls) {
    if (!queue.lane_back || queue.tiers.empty() || now.steady - *queue.lane_back >= dead_letter_wait) return;
    stalls.push_back({Cause::broker_dead_letter_wait,
                      "the lane was away: what expired meanwhile comes back up to three minutes after its return",
                      between(*queue.lane_back, now.steady)});
}

// What only a look through the hand tells, for each queue: one pass serves all of them.
struct HandFacts {
    std::uint32_t suspects = 0;
    std::uint32_t unroutable = 0;  // copies that can't be placed
    std::string example;           // of them
    model::SteadyTime unroutable_since = model::SteadyTime::max();
};
std::vector<HandFacts> look_through(const State& state) {
    std::vector<HandFacts> found(state.queues.size());
    for (const auto& [key, held] : state.hand.all()) {
        auto& facts = found[held.queue().value];
        if (held.stay.standing != core::Standing::trusted) ++facts.suspects;
        if (held.state != Held::State::copying || !state.copies.is_unroutable(key)) continue;
        ++facts.unroutable;
        facts.unroutable_since = std::min(facts.unroutable_since, held.since);
        facts.example = state.copies.target(key).value;
        if (const auto why = state.copies.trouble(key); !why.empty()) facts.example += ": " + why;
    }
    return found;
}

void add_copies(const State& state, const HandFacts& facts, const model::Clock& now, std::vector<model::StallView>& stalls) {
    if (facts.unroutable > 0)
        stalls.push_back({Cause::unroutable,
                          std::to_string(facts.unroutable) + " copies can't be placed, one for " + facts.example,
                          between(facts.unroutable_since, now.steady)});
    if (state.copies.is_late())
        stalls.push_back({Cause::confirm_late, "no confirm in time, the link is renewed", Milliseconds{0}});
}

std::vector<model::StallView> stalls_of(const State& state, const QueueState& queue, const HandFacts& facts,
                                        const model::Clock& now) {
    std::vector<model::StallView> stalls;
    if (state.drain != State::Drain::no)
        stalls.push_back({Cause::draining, draining_detail(state), between(state.drain_since, now.steady)});
    if (links_are_closed(state)) return stalls;  // the rest is its consequence
    add_links(state, now, stalls);
    add_consumer(queue, now, stalls);
    add_sources(queue, now, stalls);
    add_dead_letter_wait(queue, now, stalls);
    add_copies(state, facts, now, stalls);
    if (state.memory_full)
        stalls.push_back({Cause::memory, std::to_string(state.hand.bytes()) + " bytes in hand",
                          between(state.memory_full_since, now.steady)});
    return stalls;
}

std::vector<model::DepthView> depths_of(const State& state, const QueueState& queue) {
    std::vector<model::DepthView> depths;
    const auto add = [&](const model::QueueName& name, std::string kind, std::string tier) {
        const auto known = state.depths.find(name);
        if (known != state.depths.end()) depths.push_back({name, std::move(kind), std::move(tier), known->second});
    };
    add(queue.policy.name, "work", "");
    add(queue.policy.lane, "lane", "");
    for (const auto& [name, kind] : queue.tiers) add(name, kind.first, kind.second);
    add(queue.policy.parked, "parked", "");
    add(queue.policy.dlq, "dlq", "");
    return depths;
}

model::QueueView view_of(const State& state, const QueueState& queue, const HandFacts& facts, const model::Clock& now) {
    model::QueueView view;
    view.name = queue.policy.name;
    view.consumer = state.ports.consumer.describe(queue.id);
    view.stalls = stalls_of(state, queue, facts, now);
    view.state = view.stalls.empty() ? "flowing" : std::string(model::to_text(view.stalls.front().cause));
    view.in_hand = queue.in_hand;
    view.in_flight = queue.in_flight;
    view.suspects = facts.suspects;
    view.waiting_quick = static_cast<std::uint32_t>(queue.waiting.size());
    view.being_copied = queue.copying;
    view.concurrency = queue.policy.deliver.concurrency;
    view.slots = queue.watch.permits(queue.policy.deliver.concurrency, now.steady);
    view.credit = state.ports.consumer.credit(queue.id);
    view.held_back = queue.held_back;
    const auto& figures = state.figures.queues[queue.id.value];
    view.deliveries = figures.deliveries;
    view.delivery_seconds = figures.delivery_seconds.sum();
    view.subscribed_work = queue.intake[at(model::Side::work)].is_subscribed();
    view.subscribed_lane = queue.intake[at(model::Side::lane)].is_subscribed();
    view.depths = depths_of(state, queue);
    return view;
}

model::LinkView link_view(const State& state, Link which) {
    const auto& link = state.link(which);
    const bool blocked = which == Link::publish && state.copies.is_blocked();
    return {.name = which == Link::consume ? "consume" : "publish",
            .up = link.reconnect.is_up(),
            .blocked = blocked,
            .address = model::to_text(state.policy->broker.addresses[link.address]),
            .trouble = links_are_closed(state) ? "closed by the drain" : (blocked ? state.blocked_why : link.trouble)};
}

}  // namespace

model::StatusView status_of(const State& state, const model::Clock& now) {
    model::StatusView view;
    view.at = now.wall;
    view.version = state.options.version;
    view.policy_hash = state.policy->hash;
    view.broker_version = state.broker_version;
    view.ready = state.ready;
    view.draining = state.drain != State::Drain::no;
    view.drained = state.drain == State::Drain::drained || state.drain == State::Drain::stopped;
    view.memory_used = state.hand.bytes();
    view.memory_limit = state.policy->memory.value;
    for (const auto which : {Link::consume, Link::publish}) view.links.push_back(link_view(state, which));
    const auto facts = look_through(state);
    for (const auto& queue : state.queues) view.queues.push_back(view_of(state, queue, facts[queue.id.value], now));
    return view;
}

}  // namespace retryd::engine
