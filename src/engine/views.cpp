#include "engine/views.hpp"

#include "engine/guard_views.hpp"
#include "engine/serving.hpp"
#include "engine/stalls.hpp"

namespace retryd::engine {

using ports::Link;

namespace {

std::vector<model::DepthView> depths_of(const State& state, const QueueState& queue) {
    std::vector<model::DepthView> depths;
    const auto add = [&](const model::QueueName& name, std::string kind, std::string tier) {
        const auto known = state.depths.find(name);
        if (known != state.depths.end()) depths.push_back({name, std::move(kind), std::move(tier), known->second});
    };
    add(queue.policy.name, "work", "");
    add(queue.policy.lane, "lane", "");
    for (const auto& [name, tier] : queue.tiers) add(name, tier.kind, tier.time);
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
    view.concurrency = concurrency_of(queue);
    view.concurrency_max = queue.policy.deliver.concurrency;
    view.slots = queue.watch.permits(view.concurrency, now.steady);
    view.credit = state.ports.consumer.credit(queue.id);
    view.held_back = queue.held_back;
    const auto& figures = state.figures.queues[queue.id.value];
    view.deliveries = figures.deliveries;
    view.delivery_seconds = figures.delivery_seconds.sum();
    view.subscribed_work = queue.intake[at(model::Side::work)].is_subscribed();
    view.subscribed_lane = queue.intake[at(model::Side::lane)].is_subscribed();
    view.depths = depths_of(state, queue);
    show_guards(queue, now, view);
    return view;
}

model::LinkView link_view(const State& state, Link which) {
    const auto& link = state.link(which);
    const bool blocked = which == Link::publish && state.copies.is_blocked();
    return {.name = name_of(which),
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
    view.breakers = breaker_views(state, now);
    const auto facts = look_through(state);
    for (const auto& queue : state.queues) view.queues.push_back(view_of(state, queue, facts[queue.id.value], now));
    return view;
}

}  // namespace retryd::engine
