#include "engine/engine.hpp"

#include "engine/arrivals.hpp"
#include "engine/copying.hpp"
#include "engine/drain.hpp"
#include "engine/explain.hpp"
#include "engine/links.hpp"
#include "engine/orders.hpp"
#include "engine/parts.hpp"
#include "engine/serving.hpp"
#include "engine/state.hpp"
#include "engine/telling.hpp"
#include "engine/topology.hpp"
#include "engine/verdicts.hpp"
#include "engine/views.hpp"
#include "engine/watchdog.hpp"

#include <algorithm>
#include <type_traits>

namespace retryd::engine {

// Connecting and logging in have the connect timeout each; the resolver has none.
LinkState::LinkState(const model::BrokerPolicy& broker, model::SteadyTime now)
    : reconnect(broker.addresses.size(), now),
      watch(broker.confirm_timeout, 2 * broker.connect_timeout + std::chrono::seconds{5}) {}

State::State(model::PolicyPtr its_policy, Ports its_ports, Options its_options, const model::Clock& clock)
    : policy(std::move(its_policy)),
      ports(its_ports),
      options(std::move(its_options)),
      now(clock),
      chance(options.seed),
      copies(policy->broker.confirm_timeout),
      links{LinkState{policy->broker, clock.steady}, LinkState{policy->broker, clock.steady}},
      agenda(policy->queues.size() + 1) {
    dependencies.reserve(policy->dependencies.size());
    for (const auto& dependency : policy->dependencies) dependencies.emplace_back(dependency, clock.steady);
    queues.reserve(policy->queues.size());
    for (const auto& queue : policy->queues) {
        queues.emplace_back(model::QueueId{static_cast<std::uint32_t>(queues.size())}, *policy, queue, clock.steady);
        queues.back().intake[at(model::Side::work)] = core::Intake(queue.declare.has_value());
        figures.queues.emplace_back();
        figures.queues.back().queue = queue.name.value;
        touch(queues.back());
    }
}

void State::touch(QueueState& queue) {
    if (std::exchange(queue.touched, true)) return;
    touched.push_back(queue.id.value);
}

void log(State& state, model::LogLevel level, std::string_view event,
         std::vector<std::pair<std::string_view, std::string>> fields) {
    if (state.ports.journal.keeps(level)) state.ports.journal.record({level, event, std::move(fields)});
}

namespace {

void handle(State& state, ports::BrokerEvent&& event) {
    std::visit(
        [&state](auto&& it) {
            using Event = std::decay_t<decltype(it)>;
            if constexpr (std::is_same_v<Event, ports::LinkUp>) link_up(state, it);
            if constexpr (std::is_same_v<Event, ports::LinkDown>) link_down(state, it);
            if constexpr (std::is_same_v<Event, ports::LinkPulse>) pulse(state, it);
            if constexpr (std::is_same_v<Event, ports::Delivered>) arrived(state, std::move(it));
            if constexpr (std::is_same_v<Event, ports::Subscribed>) subscribed(state, it.source);
            if constexpr (std::is_same_v<Event, ports::Unsubscribed>) unsubscribed(state, it.source);
            if constexpr (std::is_same_v<Event, ports::SubscriptionLost>) subscription_lost(state, it.source);
            if constexpr (std::is_same_v<Event, ports::SourceClosed>) source_closed(state, it);
            if constexpr (std::is_same_v<Event, ports::LookedUp>) looked_up(state, it);
            if constexpr (std::is_same_v<Event, ports::Declared>) declared(state, it);
            if constexpr (std::is_same_v<Event, ports::Confirmed>) confirmed(state, it.key);
            if constexpr (std::is_same_v<Event, ports::Nacked>) nacked(state, it.key);
            if constexpr (std::is_same_v<Event, ports::Returned>) returned(state, it.key, it.why);
            if constexpr (std::is_same_v<Event, ports::PublishChannelClosed>) publish_channel_closed(state, it.why);
            if constexpr (std::is_same_v<Event, ports::Blocked>) blocked(state, it.why);
            if constexpr (std::is_same_v<Event, ports::Unblocked>) unblocked(state);
        },
        std::move(event));
}

// What is not about one queue: links, copies, depths, the drain.
void serve_the_rest(State& state) {
    connect_where_due(state);
    if (state.drain == State::Drain::no) ask_for_depths(state);
    advance_copies(state);
    mind_readiness(state);
    advance_drain(state);
    sum_up(state);
}

model::SteadyTime next_of_the_rest(const State& state) {
    auto when = std::min({state.copies.next(), next_drain(state), state.limiter.next(), state.breakers_due});
    when = std::min({when, state.to_consume.next(), state.to_publish.next()});
    if (state.drain == State::Drain::no) when = std::min(when, state.next_depths);
    if (state.drain == State::Drain::no || state.drain == State::Drain::finishing) {
        for (const auto& link : state.links) when = std::min(when, link.reconnect.next());
    }
    return when;
}

// Lets everything that was touched go on as far as it can.
void turn(State& state) {
    mind_breakers(state);
    for (std::size_t i = 0; i < state.touched.size(); ++i) {  // more may be touched meanwhile
        auto& queue = state.queues[state.touched[i]];
        queue.touched = false;
        serve_clock(state, queue);
        advance_sources(state, queue);
        serve(state, queue);
        state.agenda.wish(queue.id.value, next_clock(state, queue));
    }
    state.touched.clear();
    serve_the_rest(state);
    flush(state);
    state.agenda.wish(state.queues.size(), next_of_the_rest(state));
    state.ports.timer.arm(state.agenda.next());
}

}  // namespace

Engine::Engine(model::PolicyPtr policy, Ports ports, Options options)
    : parts_(std::make_unique<Parts>(Parts{std::move(policy), ports, std::move(options), std::nullopt})) {}

Engine::~Engine() = default;

template <class Act>
void Engine::Parts::at(const model::Clock& now, Act act) {
    state->now = now;
    act(*state);
    turn(*state);
}

void Engine::start(const model::Clock& now) {
    parts_->state.emplace(parts_->policy, parts_->ports, parts_->options, now);
    parts_->at(now, [](State&) {});
}

void Engine::broker_events(std::vector<ports::BrokerEvent>& events, const model::Clock& now) {
    parts_->at(now, [&](State& state) {
        for (auto& event : events) handle(state, std::move(event));
        events.clear();
    });
}

void Engine::replied(std::vector<Replied>& replies, const model::Clock& now) {
    parts_->at(now, [&](State& state) {
        for (const auto& [key, reply] : replies) engine::replied(state, key, reply);
        replies.clear();
    });
}

void Engine::probed(model::QueueId queue, const std::string& trouble, const model::Clock& now) {
    parts_->at(now, [&](State& state) { engine::probed(state, state.queue(queue), trouble); });
}

void Engine::not_ready(model::QueueId queue, const std::string& why, const model::Clock& now) {
    parts_->at(now, [&](State& state) { engine::not_ready(state, state.queue(queue), why); });
}

void Engine::credit_changed(model::QueueId queue, const model::Clock& now) {
    parts_->at(now, [&](State& state) { state.touch(state.queue(queue)); });
}

void Engine::consumer_gone(model::QueueId queue, const std::string& why, const model::Clock& now) {
    parts_->at(now, [&](State& state) { engine::consumer_gone(state, state.queue(queue), why); });
}

void Engine::extended(model::DeliveryKey key, model::Milliseconds more, const model::Clock& now) {
    parts_->at(now, [&](State& state) { extend(state, key, more); });
}

void Engine::timer_due(const model::Clock& now) {
    parts_->at(now, [&](State& state) {
        state.due.clear();
        state.agenda.take_due(now.steady, state.due);
        for (const auto topic : state.due) {
            if (topic < state.queues.size()) state.touch(state.queues[topic]);
        }
    });
}

void Engine::drain(std::string_view who, const model::Clock& now) {
    parts_->at(now, [&](State& state) { begin_drain(state, who); });
}

bool Engine::obey(const model::Order& order, std::string_view who, const model::Clock& now) {
    bool obeyed = false;
    parts_->at(now, [&](State& state) { obeyed = engine::obey(state, order, who); });
    return obeyed;
}

void Engine::stop(std::string_view who, const model::Clock& now) {
    parts_->at(now, [&](State& state) {
        state.stopping = true;
        begin_drain(state, who);
    });
}

bool Engine::stopped() const {
    return parts_->state->drain == State::Drain::stopped;
}

bool Engine::refused() const {
    const auto& state = *parts_->state;
    const auto everywhere = state.policy->broker.addresses.size();
    return std::any_of(state.links.begin(), state.links.end(),
                       [&](const LinkState& link) { return link.refusals >= everywhere && !link.ever_up; });
}

bool Engine::broker_seen() const {
    const auto& links = parts_->state->links;
    return std::all_of(links.begin(), links.end(), [](const LinkState& link) { return link.ever_up; });
}

model::StatusView Engine::status(const model::Clock& now) const {
    return status_of(*parts_->state, now);
}

model::WhyView Engine::why(std::string_view id, const model::Clock& now) const {
    return explain(*parts_->state, id, now);
}

std::uint64_t Engine::bytes_in_hand() const {
    return parts_->state->hand.bytes();
}

const model::Figures& Engine::figures() const {
    return parts_->state->figures;
}

}  // namespace retryd::engine
