#include "engine/trials.hpp"

#include "engine/verdicts.hpp"

#include <algorithm>

namespace retryd::engine {

namespace {

constexpr std::size_t most_own_trials = 1024;  // far more than are held between two breaks of a link

std::uint32_t returns_of(const model::Record& record) {
    if (!record.origin.redelivered) return 0;  // a count that came with the message is not this queue's
    return std::max(record.delivery_count, 1U);
}

void remember_trial(QueueState& queue, const Held& held) {
    if (queue.own_trials.size() >= most_own_trials) queue.own_trials.clear();
    queue.own_trials.insert(held.record.id);
}

}  // namespace

core::Standing standing_of(QueueState& queue, const Held& held) {
    const bool own = held.record.ledger.suspect && queue.own_trials.count(held.record.id) > 0;
    const auto standing = core::standing_of(queue.policy, held.stay.ledger, held.side(), own ? 0 : returns_of(held.record));
    if (standing == core::Standing::on_trial) remember_trial(queue, held);
    return standing;
}

void send_to_trial(State& state, QueueState& queue, Held& held) {
    remember_trial(queue, held);
    carry_out_uncounted(state, held, core::stamp(held.stay));
    queue.stamped = held.key;
    queue.floor.await_trial(state.now.steady);
}

bool is_being_stamped(State& state, const QueueState& queue) {
    return state.hand.find(queue.stamped) != nullptr;
}

bool must_step_back(const State& state, const QueueState& queue, const Held& held) {
    const auto& all = state.hand.all();
    if (held.stay.standing == core::Standing::on_trial) {
        const auto first = queue.accused.empty() ? all.end() : all.find(queue.accused.front());
        const bool one_waits = first != all.end() && first->second.stay.standing == core::Standing::on_trial;
        const bool came_back = returns_of(held.record) > 0;
        return queue.trial_runs || one_waits || came_back;
    }
    const bool accused = held.stay.standing == core::Standing::accused && held.side() == model::Side::lane;
    if (!accused || !queue.floor.awaits_trial()) return false;
    const auto of_the_lane = std::count_if(all.begin(), all.end(), [&](const auto& one) {
        return one.second.tag.source == held.tag.source && !one.second.orphan;
    });
    return of_the_lane >= queue.intake[at(model::Side::lane)].prefetch();
}

void put_off_trials(State& state, QueueState& queue) {
    queue.floor.stop_waiting();
    while (!queue.accused.empty()) {
        auto* held = state.hand.find(queue.accused.front());
        const bool there = held != nullptr && held->state == Held::State::ready;
        if (there && held->stay.standing != core::Standing::on_trial) return;  // trials lie in front
        queue.accused.pop_front();
        if (there) carry_out_uncounted(state, *held, core::step_back(held->stay));
    }
}

core::Judgement poisoned(const Held& held, const std::string& last_trouble) {
    core::Judgement judgement;
    judgement.outcome = model::Outcome::lost;
    judgement.error_type = "retryd.Poison";
    judgement.error_message = "delivered alone " + std::to_string(held.stay.ledger.suspect.value_or(0)) +
                              " times, and each time the consumer or retryd died without a reply";
    if (!last_trouble.empty()) judgement.error_message += ", at last: " + last_trouble;
    return judgement;
}

}  // namespace retryd::engine
