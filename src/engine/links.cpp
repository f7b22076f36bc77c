#include "engine/links.hpp"

#include "engine/arrivals.hpp"
#include "engine/copying.hpp"
#include "engine/stalls.hpp"
#include "engine/topology.hpp"

namespace retryd::engine {

using ports::Link;

namespace {

void consume_link_up(State& state) {
    state.questions_on(Link::consume).clear();
    if (state.memory_full) state.to_consume.add(ports::SetReading{false});
    state.next_depths = state.now.steady;
    for (auto& queue : state.queues) state.touch(queue);
}

void publish_link_up(State& state) {
    state.questions_on(Link::publish).clear();
    state.copies.link_up();
    ensure_lots(state);
}

void consume_link_down(State& state) {
    state.questions_on(Link::consume).clear();
    state.next_depths = model::SteadyTime::max();
    for (auto& queue : state.queues) {
        for (auto side : {model::Side::work, model::Side::lane}) {
            queue.intake[at(side)].link_down();
            queue.subscription[at(side)].ended();
            queue.ack_timeout[at(side)] = false;
        }
        state.touch(queue);
    }
    orphan(state, std::nullopt);
}

// A link that the drain has closed is no trouble.
model::LogLevel level_of(const State& state, const ports::LinkDown& down) {
    if (state.drain == State::Drain::closing) return model::LogLevel::info;
    return down.refused ? model::LogLevel::error : model::LogLevel::warn;
}

}  // namespace

void connect_where_due(State& state) {
    if (state.drain != State::Drain::no && state.drain != State::Drain::finishing) return;
    for (const auto which : {Link::consume, Link::publish}) {
        auto& link = state.link(which);
        if (!link.reconnect.timer_due(state.now.steady)) continue;
        link.address = link.reconnect.address();
        state.ports.broker.connect(which, link.address);
    }
}

void link_up(State& state, const ports::LinkUp& up) {
    auto& link = state.link(up.link);
    link.reconnect.up(state.now.steady);
    link.watch.link_changed();
    link.ever_up = true;
    link.trouble.clear();
    state.broker_version = up.broker_version;
    state.frame_max = up.frame_max;
    log(state, model::LogLevel::info, "link_up",
        {{"link", name_of(up.link)},
         {"broker", model::to_text(state.policy->broker.addresses[link.address])},
         {"version", up.broker_version}});
    if (up.link == Link::consume) {
        consume_link_up(state);
    } else {
        publish_link_up(state);
    }
}

void link_down(State& state, const ports::LinkDown& down) {
    auto& link = state.link(down.link);
    // A broker that stays away is told once for each new reason, not at every try.
    if (link.reconnect.is_up() || link.trouble != down.why) {
        log(state, level_of(state, down), "link_down",
            {{"link", name_of(down.link)},
             {"broker", model::to_text(state.policy->broker.addresses[link.address])},
             {"why", down.why}});
    }
    link.trouble = down.why;
    link.refusals = down.refused ? link.refusals + 1 : 0;
    link.reconnect.down(down.refused, state.now.steady, state.chance());
    link.watch.link_changed();
    if (down.link == Link::consume) {
        state.to_consume.clear();
        consume_link_down(state);
    } else {
        state.to_publish.clear();
        state.blocked_why.clear();
        state.questions_on(Link::publish).clear();
        state.copies.declaring_failed();
        publish_link_down(state);
    }
    for (auto& queue : state.queues) state.touch(queue);
}

void blocked(State& state, const std::string& why) {
    state.blocked_why = why;
    state.blocked_since = state.now.steady;
    state.copies.blocked(true, state.now.steady);
    log(state, model::LogLevel::warn, "publish_blocked", {{"why", why}});
    for (auto& queue : state.queues) state.touch(queue);
}

void unblocked(State& state) {
    state.blocked_why.clear();
    state.copies.blocked(false, state.now.steady);
    log(state, model::LogLevel::info, "publish_unblocked", {});
    for (auto& queue : state.queues) state.touch(queue);
}

}  // namespace retryd::engine
