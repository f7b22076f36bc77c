#include "engine/drain.hpp"

#include "engine/arrivals.hpp"
#include "engine/copying.hpp"
#include "engine/verdicts.hpp"

#include <algorithm>

namespace retryd::engine {

using ports::Link;

namespace {

constexpr model::Milliseconds beyond_timeout{2000};
constexpr model::Milliseconds to_give_back{1000};
// RabbitMQ works at 32 acks of a quorum queue at a time, and what still waits for that when the link closes is forgotten:
// the message comes again although it is done (seen on 3.10.8, where 50 ms were enough for a hundred). Each 32 need the disk
// once: a millisecond for each ack allows for a slow one.
constexpr model::Milliseconds acks_take{150};
constexpr model::Milliseconds each_ack_takes{1};

model::Milliseconds time_to_drain(const State& state) {
    if (state.options.drain) return *state.options.drain;
    model::Milliseconds longest{0};
    for (const auto& queue : state.queues) longest = std::max(longest, queue.policy.deliver.timeout);
    return longest + beyond_timeout;
}

// What rests is not waited for.
bool copies_are_settled(const State& state) {
    return std::all_of(state.hand.all().begin(), state.hand.all().end(), [&](const auto& one) {
        return one.second.state != Held::State::copying || state.copies.is_resting(one.first);
    });
}

bool is_quiet(const State& state) {
    const bool up = state.link(Link::consume).reconnect.is_up();
    return std::all_of(state.queues.begin(), state.queues.end(),
                       [up](const QueueState& queue) {
                           const bool silent = !up || (queue.intake[0].is_quiet() && queue.intake[1].is_quiet());
                           return queue.in_flight == 0 && silent;
                       }) &&
           copies_are_settled(state);
}

model::SteadyTime acks_are_heard(const State& state) {
    return state.last_ack + acks_take + state.acks_in_drain * each_ack_takes;
}

// A trial that the end of the drain breaks off must not look like one that ended without a reply. True: there are such, and
// their copies have a moment to be confirmed.
bool give_back_trials(State& state) {
    std::vector<model::DeliveryKey> trials;
    for (const auto& [key, held] : state.hand.all()) {
        const bool runs = held.state == Held::State::at_consumer && held.stay.standing == core::Standing::on_trial;
        if (runs && !held.orphan) trials.push_back(key);
    }
    for (const auto key : trials) give_back_trial(state, *state.hand.find(key));
    if (trials.empty()) return false;
    state.drain_deadline = state.now.steady + to_give_back;
    advance_copies(state);
    return true;
}

void return_the_rest(State& state) {
    std::vector<model::DeliveryKey> keys;
    for (const auto& [key, held] : state.hand.all()) keys.push_back(key);
    std::sort(keys.begin(), keys.end());  // in the order in which they came
    for (const auto key : keys) {
        auto& held = *state.hand.find(key);
        if (held.state == Held::State::at_consumer) {
            state.ports.consumer.abandon(key);
            take_back(state, state.queue(held.queue()), held);
        }
        if (!held.orphan) state.to_consume.add(ports::Settle{held.tag, false});
        let_go(state, held);
    }
    state.copies.forget_all();
    if (!keys.empty()) log(state, model::LogLevel::info, "returned_to_broker", {{"messages", std::to_string(keys.size())}});
}

void hand_over(State& state) {
    state.to_consume.hand_over(state.ports.broker, Link::consume);
    state.to_publish.hand_over(state.ports.broker, Link::publish);
}

void close_links(State& state) {
    hand_over(state);
    for (const auto which : {Link::consume, Link::publish}) {
        if (state.link(which).reconnect.is_up()) {
            state.ports.broker.close(which);
        } else {
            state.ports.broker.disconnect(which);
        }
    }
}

bool links_are_down(const State& state) {
    return std::none_of(state.links.begin(), state.links.end(), [](const LinkState& link) { return link.reconnect.is_up(); });
}

}  // namespace

void begin_drain(State& state, std::string_view who) {
    if (state.drain != State::Drain::no) return;
    state.drain = State::Drain::finishing;
    state.drain_since = state.now.steady;
    state.drain_deadline = state.now.steady + time_to_drain(state);
    log(state, model::LogLevel::info, "draining", {{"by", std::string(who)}});
    state.ports.consumer.drain();
    for (auto& queue : state.queues) state.touch(queue);
}

void advance_drain(State& state) {
    const bool over =
        state.now.steady >= state.drain_deadline || (is_quiet(state) && state.now.steady >= acks_are_heard(state));
    if (state.drain == State::Drain::finishing && over && !give_back_trials(state)) {
        state.drain = State::Drain::closing;
        return_the_rest(state);
        close_links(state);
    }
    if (state.drain == State::Drain::closing && links_are_down(state)) {
        state.drain = State::Drain::drained;
        log(state, model::LogLevel::info, "drained", {});
    }
    if (state.drain == State::Drain::drained && state.stopping) {
        state.drain = State::Drain::stopped;
        log(state, model::LogLevel::info, "stopped", {});
    }
}

model::SteadyTime next_drain(const State& state) {
    if (state.drain != State::Drain::finishing) return model::SteadyTime::max();
    return is_quiet(state) ? std::min(acks_are_heard(state), state.drain_deadline) : state.drain_deadline;
}

void flush(State& state) {
    const auto now = state.now.steady;
    if (!state.to_consume.may_wait(state.hand.all().size(), now)) state.to_consume.hand_over(state.ports.broker, Link::consume);
    if (!state.to_publish.may_wait(state.copies.in_flight(), now))
        state.to_publish.hand_over(state.ports.broker, Link::publish);
}

}  // namespace retryd::engine
