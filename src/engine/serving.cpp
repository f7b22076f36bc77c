#include "engine/serving.hpp"

#include "core/suspicion.hpp"
#include "core/turns.hpp"
#include "engine/arrivals.hpp"
#include "engine/gate.hpp"
#include "engine/outcomes.hpp"
#include "engine/trials.hpp"
#include "engine/verdicts.hpp"

#include <algorithm>

namespace retryd::engine {

using model::Milliseconds;
using model::Side;
using model::SteadyTime;
using Watch = core::ConsumerWatch::State;

namespace {

constexpr Milliseconds counts_as_held{1000};  // shorter waits in hand are ordinary queueing

// The front of the list that is still there.
Held* front(State& state, std::deque<model::DeliveryKey>& list) {
    while (!list.empty()) {
        auto* held = state.hand.find(list.front());
        if (held != nullptr && held->state == Held::State::ready) return held;
        list.pop_front();
    }
    return nullptr;
}

// The same, where the guards let it go.
Held* next_of(State& state, const QueueState& queue, std::deque<model::DeliveryKey>& list) {
    auto* held = front(state, list);
    return held != nullptr && may_go(state, queue, *held) ? held : nullptr;
}

ports::Delivery delivery_for(const State& state, const QueueState& queue, const Held& held) {
    ports::Delivery delivery;
    delivery.key = held.key;
    delivery.queue = queue.id;
    delivery.message = held.message;
    delivery.shown = held.record.shown;
    delivery.exchange = held.record.origin.exchange;
    delivery.routing_key = held.record.origin.routing_key;
    delivery.idempotency_key = held.record.id;
    delivery.last_error = held.record.last_error;
    delivery.attempt = held.stay.ledger.attempts + 1;
    delivery.max_attempts = core::max_attempts(queue.policy);
    delivery.first_failed = held.stay.ledger.first_failed;
    delivery.deadline = state.now.wall + queue.policy.deliver.timeout;
    // A copy made without a reply hides that from the broker, not from the consumer.
    const auto& ledger = held.stay.ledger;
    delivery.fallback = held.fallback;
    if (held.fallback) delivery.fallback_for = state.policy->dependencies[held.fallback->dependency].name;
    delivery.redelivered = held.record.origin.redelivered || ledger.lost > 0 || ledger.suspect;
    return delivery;
}

void hand_over(State& state, QueueState& queue, Held& held) {
    const auto waited = std::chrono::duration_cast<Milliseconds>(state.now.steady - held.since);
    if (waited > counts_as_held) held.stay.ledger.held += waited;
    if (!held.delivered && held.side() == Side::work) ++state.figures_of(queue).first_deliveries;
    held.delivered = true;
    held.state = Held::State::at_consumer;
    held.since = state.now.steady;
    held.until = state.now.steady + queue.policy.deliver.timeout;
    queue.deadlines.emplace(held.until, held.key);
    ++queue.in_flight;
    if (held.side() == Side::lane) ++queue.lane_in_flight;
    held.fallback = fallback_of(state, queue, held);
    began(state, queue, held);
    queue.trial_runs = held.stay.standing == core::Standing::on_trial;
    ++queue.turn;
    state.ports.consumer.deliver(delivery_for(state, queue, held));
}

// How many deliveries may be at the consumer at once: what the policy, the consumer's condition and its own credit allow.
std::uint32_t free_slots(const State& state, const QueueState& queue) {
    const auto permits = queue.watch.permits(concurrency_of(queue), state.now.steady);
    const auto credit = state.ports.consumer.credit(queue.id);
    return credit ? std::min(permits, queue.in_flight + *credit) : permits;
}

void wake_waiting(State& state, QueueState& queue) {
    while (!queue.waiting.empty() && queue.waiting.begin()->first <= state.now.steady) {
        auto* held = state.hand.find(queue.waiting.begin()->second);
        queue.waiting.erase(queue.waiting.begin());
        if (held != nullptr && held->state == Held::State::waiting) make_ready(state, *held, true);
    }
}

// One that is replaced goes at once: a consumer may ask for more time as often as it likes.
void forget_deadline(QueueState& queue, const Held& held) {
    const auto [first, last] = queue.deadlines.equal_range(held.until);
    const auto found = std::find_if(first, last, [&](const auto& entry) { return entry.second == held.key; });
    if (found != last) queue.deadlines.erase(found);
}

// The first deadline of a delivery that is still at the consumer.
SteadyTime next_deadline(State& state, QueueState& queue) {
    while (!queue.deadlines.empty()) {
        const auto [when, key] = *queue.deadlines.begin();
        const auto* held = state.hand.find(key);
        if (held != nullptr && held->state == Held::State::at_consumer && held->until == when) return when;
        queue.deadlines.erase(queue.deadlines.begin());
    }
    return SteadyTime::max();
}

void time_out(State& state, QueueState& queue) {
    while (next_deadline(state, queue) <= state.now.steady) {
        auto* held = state.hand.find(queue.deadlines.begin()->second);
        queue.deadlines.erase(queue.deadlines.begin());
        timed_out(state, *held);
    }
}

// What has been in hand too long without being at a consumer leaves as a held copy.
void sweep(State& state, QueueState& queue) {
    if (state.now.steady < queue.next_sweep) return;
    queue.next_sweep = queue.in_hand == 0 ? SteadyTime::max() : state.now.steady + sweep_interval;
    std::vector<model::DeliveryKey> overdue;
    for (const auto& [key, held] : state.hand.all()) {
        const bool idle =
            held.state == Held::State::ready || (held.state == Held::State::waiting && held.until != SteadyTime::max());
        if (held.queue() == queue.id && idle && state.now.steady - held.arrived >= model::hand_limit) overdue.push_back(key);
    }
    for (const auto key : overdue) {
        auto& held = *state.hand.find(key);
        carry_out_uncounted(state, held, core::hold(queue.policy, held.stay, state.now.wall, guards_view(state, queue, held)));
    }
}

bool serve_trusted(State& state, QueueState& queue, std::uint32_t slots) {
    auto* work = next_of(state, queue, queue.ready[at(Side::work)]);
    auto* lane = guards_let_lane(state, queue) ? next_of(state, queue, queue.ready[at(Side::lane)]) : nullptr;
    const core::Demand demand{.work_waits = work != nullptr,
                              .lane_waits = lane != nullptr,
                              .in_flight = queue.in_flight,
                              .lane_in_flight = queue.lane_in_flight,
                              .slots = slots,
                              .turn = queue.turn};
    // Probes are made with what is fresh, where there is any.
    const bool fresh_only = work != nullptr && demand.in_flight < slots && probes_wanted(state, queue);
    const auto side = fresh_only ? std::optional{Side::work} : core::next_side(demand, queue.policy.lane_share);
    if (!side) return false;
    queue.ready[at(*side)].pop_front();
    hand_over(state, queue, *side == Side::work ? *work : *lane);
    return true;
}

bool serve_suspect(State& state, QueueState& queue, std::uint32_t slots) {
    if (queue.in_flight >= std::min(slots, core::suspects_at_once(queue.policy.deliver.concurrency))) return false;
    auto& held = *front(state, queue.suspects);
    queue.suspects.pop_front();
    hand_over(state, queue, held);
    return true;
}

bool serve_accused(State& state, QueueState& queue, std::uint32_t slots) {
    if (slots == 0 || is_being_stamped(state, queue)) return false;
    auto& held = *front(state, queue.accused);
    queue.accused.pop_front();
    if (held.stay.standing == core::Standing::on_trial) {
        hand_over(state, queue, held);
    } else {
        send_to_trial(state, queue, held);
    }
    return true;
}

core::Floor::Demand demand_of(State& state, QueueState& queue) {
    core::Floor::Demand demand;
    demand.in_flight = queue.in_flight;
    demand.waits[static_cast<std::size_t>(core::Company::trusted)] =
        next_of(state, queue, queue.ready[at(Side::work)]) != nullptr ||
        (guards_let_lane(state, queue) && next_of(state, queue, queue.ready[at(Side::lane)]) != nullptr);
    demand.waits[static_cast<std::size_t>(core::Company::suspects)] = next_of(state, queue, queue.suspects) != nullptr;
    const auto* accused = next_of(state, queue, queue.accused);
    demand.trial_is_due = accused != nullptr && accused->stay.standing == core::Standing::on_trial;
    demand.waits[static_cast<std::size_t>(core::Company::accused)] =
        accused != nullptr && (demand.trial_is_due || !is_being_stamped(state, queue));
    return demand;
}

// False: nobody may be delivered now.
bool serve_one(State& state, QueueState& queue) {
    if (is_shut(state, queue)) return false;
    set_aside_barred(state, queue);
    const auto company = queue.floor.next(demand_of(state, queue), state.now.steady);
    if (!company || !has_tokens(state, queue)) return false;
    const auto slots = free_slots(state, queue);
    switch (*company) {
        case core::Company::trusted: return serve_trusted(state, queue, slots);
        case core::Company::suspects: return serve_suspect(state, queue, slots);
        case core::Company::accused: return serve_accused(state, queue, slots);
    }
    return false;
}

}  // namespace

std::uint32_t concurrency_of(const QueueState& queue) {
    const auto& load = queue.guards.load;
    return load ? load->controller.limit() : queue.policy.deliver.concurrency;
}

void serve(State& state, QueueState& queue) {
    const bool nobody_takes_any = queue.watch.permits(queue.policy.deliver.concurrency, state.now.steady) == 0;
    if (state.drain == State::Drain::finishing || nobody_takes_any || is_shut(state, queue)) put_off_trials(state, queue);
    if (state.drain != State::Drain::no || nobody_takes_any) return;
    while (serve_one(state, queue)) {
    }
    end_recovery(state, queue);
}

bool has_ready(State& state, QueueState& queue) {
    for (auto* list : {&queue.ready[at(Side::work)], &queue.ready[at(Side::lane)], &queue.suspects, &queue.accused})
        if (front(state, *list) != nullptr) return true;
    return false;
}

void extend(State& state, model::DeliveryKey key, Milliseconds more) {
    auto* held = state.hand.find(key);
    if (held == nullptr || held->state != Held::State::at_consumer) return;
    auto& queue = state.queue(held->queue());
    forget_deadline(queue, *held);
    held->until = std::min<SteadyTime>(state.now.steady + std::max(more, Milliseconds{0}), held->arrived + model::hand_limit);
    queue.deadlines.emplace(held->until, key);
    state.touch(queue);
}

void serve_clock(State& state, QueueState& queue) {
    time_out(state, queue);
    if (state.drain != State::Drain::no) return;
    wake_waiting(state, queue);
    sweep(state, queue);
    if (queue.watch.timer_due(state.now.steady)) state.ports.consumer.probe(queue.id);
}

SteadyTime next_clock(State& state, QueueState& queue) {
    auto when = next_deadline(state, queue);
    if (state.drain != State::Drain::no) return when;
    if (!queue.waiting.empty()) when = std::min(when, queue.waiting.begin()->first);
    when = std::min({when, queue.next_sweep, queue.watch.next()});
    when = std::min({when, queue.floor.next_change(), next_of_guards(state, queue)});
    for (const auto& intake : queue.intake) when = std::min(when, intake.next());
    return when;
}

}  // namespace retryd::engine
