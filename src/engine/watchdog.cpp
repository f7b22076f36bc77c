#include "engine/watchdog.hpp"

#include "engine/stalls.hpp"
#include "engine/topology.hpp"

#include <algorithm>

namespace retryd::engine {

using model::Side;
using ports::Link;
using Silence = core::LinkWatch::Silence;
using Doubt = core::SubscriptionWatch::Doubt;

namespace {

// A look is only believed of a subscription that was there for some time before it was asked for: counts may be old.
constexpr model::Milliseconds settled_after{5000};
// After a doubt the next look comes sooner.
constexpr model::Milliseconds look_again_after{5000};

const model::QueueName& name_of(const QueueState& queue, Side side) {
    return side == Side::work ? queue.policy.name : queue.policy.lane;
}

// What the broker has been asked on the link and has not answered.
std::size_t pending_on(State& state, Link link) {
    auto pending = state.questions_on(link).size();
    if (link == Link::publish) return pending;
    for (const auto& queue : state.queues)
        for (const auto& intake : queue.intake) pending += intake.awaits_broker() ? 1 : 0;
    return pending;
}

bool is_excused(const State& state, Link link) {
    return link == Link::consume ? state.memory_full : state.copies.is_blocked();
}

std::size_t in_hand_from(const State& state, model::Source source) {
    const auto& all = state.hand.all();
    return static_cast<std::size_t>(std::count_if(
        all.begin(), all.end(), [&](const auto& one) { return one.second.tag.source == source && !one.second.orphan; }));
}

}  // namespace

std::string_view text_of(Silence silence) {
    switch (silence) {
        case Silence::none: break;
        case Silence::connecting: return "connecting does not come to an end: the resolver of host names may be silent";
        case Silence::thread: return "its thread is stuck, probably in sending to a broker that reads nothing";
        case Silence::broker: return "the broker does not answer what it is asked on it";
    }
    return "";
}

std::string_view text_of(Doubt doubt) {
    switch (doubt) {
        case Doubt::none: break;
        case Doubt::unknown: return "the broker does not know its consumer";
        case Doubt::starved: return "messages wait there and none is delivered";
    }
    return "";
}

void pulse(State& state, const ports::LinkPulse& pulse) {
    auto& link = state.link(pulse.link);
    const auto before = link.watch.silence();
    const core::LinkWatch::Second second{.connecting = !link.reconnect.is_up(),
                                         .lives = pulse.lives,
                                         .busy = pulse.busy,
                                         .pending = pending_on(state, pulse.link),
                                         .answers = link.answers,
                                         .excused = is_excused(state, pulse.link)};
    const bool end = link.watch.passed(second, state.now.steady);
    const auto after = link.watch.silence();
    if (after != before && after != Silence::none)
        log(state, model::LogLevel::warn, "link_stuck", {{"link", name_of(pulse.link)}, {"why", std::string(text_of(after))}});
    if (end) state.ports.broker.disconnect(pulse.link);
}

void ask_about_subscriptions(State& state, const QueueState& queue) {
    for (const auto side : {Side::work, Side::lane}) {
        const auto spec = model::plain_queue(name_of(queue, side), model::QueueType::quorum);
        ask(state, {Question::Purpose::subscription, {queue.id, side}, spec});
    }
}

void watch_subscription(State& state, const Question& question, const ports::LookedUp& answer) {
    auto& queue = state.queue(question.source.queue);
    const auto side = at(question.source.side);
    auto& intake = queue.intake[side];
    auto& watch = queue.subscription[side];
    if (!answer.found || !intake.is_subscribed() || state.memory_full) return watch.ended();
    if (question.asked < intake.subscribed_since() + settled_after) return;
    const bool room = in_hand_from(state, question.source) < intake.prefetch();
    const bool renew = watch.looked({answer.messages, answer.consumers, queue.arrivals[side], room}, state.now.steady);
    if (watch.doubt() != Doubt::none) state.next_depths = std::min(state.next_depths, state.now.steady + look_again_after);
    if (!renew) return;
    log(state, model::LogLevel::warn, "subscription_renewed",
        {{"queue", answer.queue.value}, {"why", std::string(text_of(watch.doubt()))}});
    intake.doubted(state.now.steady);
    state.touch(queue);
}

void watch_tiers(State& state, model::QueueId id, const model::QueueName& name) {
    auto& queue = state.queue(id);
    const auto tier = queue.tiers.find(name);
    if (tier == queue.tiers.end()) return;
    const auto depth = state.depths.find(name);
    const auto lane = state.depths.find(queue.policy.lane);
    const bool lane_is_empty = lane != state.depths.end() && lane->second == 0;
    tier->second.watch.looked({.messages = depth == state.depths.end() ? 0 : depth->second,
                               .lane_arrivals = queue.arrivals[at(Side::lane)],
                               .lane_flows = lane_is_empty && queue.intake[at(Side::lane)].is_subscribed()},
                              state.now.steady);
}

}  // namespace retryd::engine
