#include "engine/explain.hpp"

#include "model/tiers.hpp"

#include <algorithm>

namespace retryd::engine {

using model::DecisionView;
using model::InHandView;
using model::Milliseconds;

namespace {

constexpr std::size_t most_told = 100;  // of each kind: nothing forbids a producer to give every message the same id

Milliseconds between(model::SteadyTime from, model::SteadyTime to) {
    return std::max(std::chrono::duration_cast<Milliseconds>(to - from), Milliseconds{0});
}

InHandView::State state_of(Held::State state) {
    switch (state) {
        case Held::State::ready: return InHandView::State::ready;
        case Held::State::waiting: return InHandView::State::waiting;
        case Held::State::at_consumer: return InHandView::State::at_consumer;
        case Held::State::copying: return InHandView::State::copying;
    }
    return InHandView::State::ready;
}

InHandView view_of(const State& state, const Held& held, const model::Clock& now) {
    const auto& policy = state.queues[held.queue().value].policy;
    InHandView view;
    view.queue = policy.name;
    view.state = state_of(held.state);
    view.attempt = held.stay.ledger.attempts + 1;
    view.max_attempts = core::max_attempts(policy);
    view.lasting = between(held.since, now.steady);
    view.suspect = held.stay.standing != core::Standing::trusted;
    const bool timed = held.state == Held::State::at_consumer || held.state == Held::State::waiting;
    if (timed && held.until != model::SteadyTime::max()) view.left = between(now.steady, held.until);
    if (held.state == Held::State::copying) view.place = state.copies.target(held.key);
    return view;
}

DecisionView::Kind kind_of(const Decision& decision) {
    switch (decision.kind) {
        case core::Verdict::Kind::ack: return DecisionView::Kind::done;
        case core::Verdict::Kind::again:
        case core::Verdict::Kind::wait: return DecisionView::Kind::quick_retry;
        case core::Verdict::Kind::tier:
            return decision.tier == model::TierKind::delay ? DecisionView::Kind::retry : DecisionView::Kind::hold;
        case core::Verdict::Kind::lane: return decision.outcome ? DecisionView::Kind::lane : DecisionView::Kind::trial;
        case core::Verdict::Kind::lot: return DecisionView::Kind::lot;
    }
    return DecisionView::Kind::done;
}

DecisionView view_of(const State& state, const Decision& decision) {
    return {.at = decision.at,
            .queue = state.queues[decision.queue.value].policy.name,
            .kind = kind_of(decision),
            .outcome = decision.outcome,
            .reason = decision.reason,
            .attempts = decision.attempts,
            .wait = decision.wait,
            .held_by = decision.held_by ? std::string(core::to_text(*decision.held_by)) : "",
            .place = {decision.place},
            .error = decision.error};
}

// The newest of them.
std::vector<const Held*> in_hand_with(const State& state, std::string_view id, std::size_t& left_out) {
    std::vector<const Held*> found;
    for (const auto& [key, held] : state.hand.all()) {
        if (held.record.id == id) found.push_back(&held);
    }
    std::sort(found.begin(), found.end(), [](const Held* one, const Held* other) { return one->key > other->key; });
    if (found.size() > most_told) left_out += found.size() - most_told;
    found.resize(std::min(found.size(), most_told));
    return found;
}

// Every lot that a message of any queue may end in.
std::vector<model::QueueName> lots_of(const State& state) {
    std::set<model::QueueName> lots;
    for (const auto& queue : state.queues) lots.merge(model::lots_of(queue.policy));
    return {lots.begin(), lots.end()};
}

}  // namespace

model::WhyView explain(const State& state, std::string_view id, const model::Clock& now) {
    model::WhyView view;
    view.at = now.wall;
    view.id = id;
    for (const auto* held : in_hand_with(state, id, view.left_out)) view.in_hand.push_back(view_of(state, *held, now));
    auto decisions = state.decisions.about(id);
    if (decisions.size() > most_told) view.left_out += decisions.size() - most_told;
    decisions.resize(std::min(decisions.size(), most_told));
    for (const auto* decision : decisions) view.decisions.push_back(view_of(state, *decision));
    view.remembered = state.decisions.size();
    view.oldest = state.decisions.oldest();
    view.lots = lots_of(state);
    return view;
}

}  // namespace retryd::engine
