#include "engine/arrivals.hpp"

#include "core/classify.hpp"
#include "core/matching.hpp"
#include "engine/outcomes.hpp"
#include "engine/serving.hpp"
#include "engine/trials.hpp"
#include "engine/verdicts.hpp"
#include "model/content_hash.hpp"
#include "model/properties.hpp"

#include <algorithm>

namespace retryd::engine {

namespace {

std::string random_id(Chance& chance) {
    static constexpr char digits[] = "0123456789abcdef";
    std::string id;
    for (int word = 0; word < 2; ++word) {
        auto bits = chance();
        for (int i = 0; i < 16; ++i, bits >>= 4U) id += digits[bits & 15U];
    }
    return id;
}

void observe_lateness(State& state, const QueueState& queue, const model::Ledger& ledger) {
    if (!ledger.not_before) return;
    const auto late = std::chrono::duration<double>(state.now.wall - *ledger.not_before).count();
    state.figures_of(queue).lateness_seconds.observe(std::max(late, 0.0));
}

void count(State& state, const QueueState& queue, const Held& held) {
    auto& figures = state.figures_of(queue);
    if (held.record.origin.redelivered) ++figures.redeliveries;
    if (held.record.id.empty()) ++figures.without_id;
    if (held.side() == model::Side::lane) observe_lateness(state, queue, held.record.ledger);
}

Held& receive(State& state, QueueState& queue, ports::Delivered&& delivered, model::Record&& record) {
    Held held;
    held.key = {++state.last_key};
    held.tag = delivered.tag;
    held.arrived = held.since = state.now.steady;
    held.message = std::move(delivered.message);
    held.record = std::move(record);
    held.stay.ledger = held.record.ledger;
    held.stay.side = held.side();
    held.stay.standing = standing_of(queue, held);
    count(state, queue, held);
    if (held.record.id.empty()) held.record.id = random_id(state.chance);
    ++queue.in_hand;
    return state.hand.add(std::move(held));
}

// Property bytes that neither the broker nor the client library refused, but we can't read: it can't be copied unaltered,
// so it stays in hand, unacked, until an operator looks.
void keep_unreadable(State& state, QueueState& queue, ports::Delivered&& delivered, const model::Problem& problem) {
    log(state, model::LogLevel::error, "unreadable", {{"queue", queue.policy.name.value}, {"why", model::to_text(problem)}});
    auto& held = receive(state, queue, std::move(delivered), {});
    held.state = Held::State::waiting;
    held.until = model::SteadyTime::max();
}

void ack(State& state, const model::DeliveryTag& tag) {
    state.to_consume.add_patient(ports::Settle{tag, true}, state.now.steady);
    state.last_ack = state.now.steady;
    if (state.drain != State::Drain::no) ++state.acks_in_drain;
}

// The consumer or the publish link still has it, so it goes on as if its channel had never died.
void take_over(State& state, QueueState& queue, Held& held, const model::DeliveryTag& tag) {
    held.tag = tag;
    held.orphan = false;
    log(state, model::LogLevel::debug, "came_again", {{"queue", queue.policy.name.value}, {"id", held.record.id}});
}

void settle_late(State& state, const QueueState& queue, const model::DeliveryTag& tag) {
    ack(state, tag);
    const auto& name = queue.policy.name.value;
    if (state.limiter.admit(name + " settled_late", {}, state.now.steady))
        log(state, model::LogLevel::info, "settled_late", {{"queue", name}});
}

// What comes again although it is done, or is still under way here, is not delivered a second time.
bool is_dealt_with(State& state, QueueState& queue, const ports::Delivered& delivered) {
    if (!delivered.arrival.redelivered || state.orphans.is_idle(state.now.steady)) return false;
    const auto content = model::content_hash(delivered.tag.source, delivered.arrival, *delivered.message);
    const auto found = content ? state.orphans.came_again(*content, state.now.steady) : core::Orphans::Found{};
    switch (found.kin) {
        case core::Orphans::Kin::none: return false;
        case core::Orphans::Kin::under_way: take_over(state, queue, *state.hand.find(found.orphan), delivered.tag); break;
        case core::Orphans::Kin::done: settle_late(state, queue, delivered.tag); break;
    }
    ++state.figures_of(queue).redeliveries;
    return true;
}

core::Judgement too_large(const Held& held) {
    core::Judgement judgement;
    judgement.outcome = model::Outcome::permanent;
    judgement.error_type = "retryd.TooLarge";
    judgement.error_message = std::to_string(held.message->body.size()) + " bytes";
    return judgement;
}

// What the policy says of some messages and not of others.
void match(const QueueState& queue, Held& held) {
    if (queue.policy.classify.empty() && queue.policy.needs.empty()) return;
    const auto shown = model::read_properties(held.record.shown);
    if (!shown) return;
    held.rules = core::rules_matching(queue.policy, *shown, held.record.origin.routing_key);
    held.needs = core::needs_of(queue.policy, *shown, held.record.origin.routing_key);
}

// Over the memory limit nothing more is read from the broker, until a tenth of it is free again.
void mind_memory(State& state) {
    const auto limit = state.policy->memory.value;
    const bool full = state.hand.bytes() > (state.memory_full ? limit / 10 * 9 : limit);
    if (full == state.memory_full) return;
    state.memory_full = full;
    state.memory_full_since = state.now.steady;
    state.to_consume.add(ports::SetReading{!full});
    log(state, model::LogLevel::warn, full ? "memory_full" : "memory_free", {{"bytes", std::to_string(state.hand.bytes())}});
}

}  // namespace

void arrived(State& state, ports::Delivered&& delivered) {
    auto& queue = state.queue(delivered.tag.source.queue);
    state.touch(queue);
    ++queue.arrivals[at(delivered.tag.source.side)];
    queue.subscription[at(delivered.tag.source.side)].arrived();
    if (queue.next_sweep == model::SteadyTime::max()) queue.next_sweep = state.now.steady + sweep_interval;
    if (is_dealt_with(state, queue, delivered)) return;
    auto record = model::read_record(*delivered.message, delivered.arrival, delivered.tag.source.side, state.now.wall);
    if (!record) return keep_unreadable(state, queue, std::move(delivered), record.error());
    auto& held = receive(state, queue, std::move(delivered), std::move(*record));
    mind_memory(state);
    if (held.message->body.size() > state.policy->max_body.value) {
        const auto verdict = core::refuse(queue.policy, held.stay, state.now.wall, guards_view(state, queue, held));
        carry_out(state, held, verdict, too_large(held));
        return;
    }
    match(queue, held);
    const auto verdict = core::on_arrival(queue.policy, held.stay, state.now.wall);
    if (!verdict && must_step_back(state, queue, held)) {
        carry_out_uncounted(state, held, core::step_back(held.stay));
    } else if (!verdict) {
        make_ready(state, held, false);
    } else if (verdict->reason == model::Reason::poison) {
        carry_out(state, held, *verdict, poisoned(held, {}));
    } else {
        carry_out_uncounted(state, held, *verdict);
    }
}

namespace {

std::deque<model::DeliveryKey>& list_for(QueueState& queue, const Held& held) {
    switch (core::company_of(held.stay.standing)) {
        case core::Company::trusted: break;
        case core::Company::suspects: return queue.suspects;
        case core::Company::accused: return queue.accused;
    }
    return queue.ready[at(held.side())];
}

}  // namespace

void make_ready(State& state, Held& held, bool front) {
    auto& queue = state.queue(held.queue());
    held.state = Held::State::ready;
    held.since = state.now.steady;
    const bool on_trial = held.stay.standing == core::Standing::on_trial;
    if (on_trial) queue.floor.stop_waiting();
    auto& list = list_for(queue, held);
    if (front || on_trial) {
        list.push_front(held.key);
    } else {
        list.push_back(held.key);
    }
    state.touch(queue);
}

void let_go(State& state, Held& held) {
    auto& queue = state.queue(held.queue());
    --queue.in_hand;
    if (held.state == Held::State::copying) --queue.copying;
    if (held.orphan) state.orphans.ended(held.key, false, state.now.steady);
    state.hand.remove(held);
    state.touch(queue);
    mind_memory(state);
}

void settle(State& state, Held& held) {
    if (held.orphan) {
        state.orphans.ended(held.key, true, state.now.steady);
    } else {
        ack(state, held.tag);
    }
    let_go(state, held);
}

void orphan(State& state, std::optional<model::Source> source) {
    std::vector<model::DeliveryKey> gone;
    for (auto& [key, held] : state.hand.all()) {
        if (held.orphan || (source && held.tag.source != *source)) continue;
        held.orphan = true;
        const bool on_its_way =
            held.state == Held::State::at_consumer || (held.state == Held::State::copying && !state.copies.forget(key));
        if (!on_its_way) {
            gone.push_back(key);
        } else if (const auto content = model::content_hash(held.tag.source, held.record.origin, *held.message)) {
            state.orphans.orphaned(key, *content);
        }
    }
    for (const auto key : gone) let_go(state, *state.hand.find(key));  // the lists skip keys that are gone
}

}  // namespace retryd::engine
