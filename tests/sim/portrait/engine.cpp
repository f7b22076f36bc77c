// The portrait of the engine and of the core's machines.

#include "sim/portrait/portrait.hpp"

#include "engine/parts.hpp"

#include <algorithm>
#include <vector>

namespace retryd::core {

using sim::Canvas;
using sim::Kind;

void Portrait::draw(Canvas& canvas, const Copies& copies) {
    canvas.section("copies");
    for (const bool fact : {copies.up_, copies.blocked_, copies.renewing_, copies.wants_new_link_}) canvas.flag(fact);
    std::map<model::DeliveryKey, const Copies::Copy*> sorted;
    for (const auto& [key, copy] : copies.copies_) sorted.emplace(key, &copy);
    for (const auto& [key, copy] : sorted) {
        canvas.name(key);
        canvas.add(copy->target.value);
        for (const auto number : {static_cast<std::uint32_t>(copy->state), copy->refusals, copy->links_lost})
            canvas.number(number);
        for (const bool fact : {copy->unroutable, copy->suspect}) canvas.flag(fact);
    }
    for (const auto& [number, flight] : copies.in_flight_) {
        canvas.name(Kind::publish, number);
        canvas.name(flight.delivery);
    }
    for (const auto* list : {&copies.ready_, &copies.suspects_}) {
        canvas.add("|");
        for (const auto key : *list)
            if (copies.copies_.contains(key)) canvas.name(key);
    }
    for (const auto& [name, target] : copies.targets_) {
        canvas.add(name.value);
        canvas.number(static_cast<std::uint64_t>(target.belief));
        canvas.flag(target.nacking_since.has_value());
        canvas.number(target.links_for_it);
        canvas.number(target.silences);
    }
}

void Portrait::draw(Canvas& canvas, const Orphans& orphans) {
    canvas.section("orphans");
    for (const auto& [content, key] : orphans.by_content_) {
        for (std::size_t i = 0; i < 8; ++i) canvas.number(content[i]);
        canvas.flag(orphans.done_.contains(key));
        if (orphans.under_way_.contains(key)) canvas.name(key);
    }
}

void Portrait::draw(Canvas& canvas, const Intake& intake) {
    canvas.section("intake");
    canvas.number(static_cast<std::uint64_t>(intake.state_));
    canvas.number(intake.prefetch_);
    for (const bool fact : {intake.missing_, intake.known_, intake.lost_, intake.not_before_ != model::SteadyTime::min()})
        canvas.flag(fact);
}

void Portrait::draw(Canvas& canvas, const ConsumerWatch& watch) {
    canvas.section("watch");
    canvas.number(static_cast<std::uint64_t>(watch.state_));
    canvas.number(static_cast<std::uint64_t>(watch.tried_from_));
    for (const bool fact : {watch.probing_, watch.proven_, watch.full_at_.has_value()}) canvas.flag(fact);
}

void Portrait::draw(Canvas& canvas, const Reconnect& reconnect) {
    canvas.section("reconnect");
    canvas.number(static_cast<std::uint64_t>(reconnect.state_));
}

void Portrait::draw(Canvas& canvas, const Floor& floor) {
    canvas.section("floor");
    canvas.number(static_cast<std::uint64_t>(floor.company_));
    for (const bool fact : {floor.sent_.has_value(), floor.silent_}) canvas.flag(fact);
}

}  // namespace retryd::core

namespace retryd::engine {

using sim::Canvas;
using sim::Kind;

namespace {

void draw(Canvas& canvas, const Held& held) {
    canvas.name(held.key);
    canvas.tag(held.tag);
    canvas.add("m" + std::to_string(sim::number_of(*held.message)));
    canvas.number(static_cast<std::uint64_t>(held.state));
    canvas.number(static_cast<std::uint64_t>(held.stay.standing));
    canvas.number(held.stay.quick_used);
    canvas.number(held.record.delivery_count);
    canvas.ledger(held.stay.ledger);
    for (const bool fact : {held.delivered, held.shares_a_loss, held.orphan, held.record.origin.redelivered}) canvas.flag(fact);
}

// The lists of what is ready skip what is gone.
template <class List>
void draw_list(Canvas& canvas, const State& state, const List& list) {
    canvas.add("|");
    for (const auto key : list) {
        const auto found = state.hand.all().find(key);
        if (found != state.hand.all().end() && found->second.state == Held::State::ready) canvas.name(key);
    }
}

void draw(Canvas& canvas, const State& state, const QueueState& queue) {
    canvas.section("queue");
    for (const bool fact : {queue.trial_runs, queue.held_back, queue.ack_timeout[0], queue.ack_timeout[1]}) canvas.flag(fact);
    for (const auto& list : queue.ready) draw_list(canvas, state, list);
    draw_list(canvas, state, queue.suspects);
    draw_list(canvas, state, queue.accused);
    canvas.add(queue.last_loss.id);
    canvas.flag(queue.last_loss.answered_since);
    for (const auto& id : queue.own_trials) canvas.add(id);
    if (state.hand.all().contains(queue.stamped)) canvas.name(queue.stamped);
    core::Portrait::draw(canvas, queue.watch);
    for (const auto& intake : queue.intake) core::Portrait::draw(canvas, intake);
    core::Portrait::draw(canvas, queue.floor);
}

}  // namespace

void Portrait::draw(Canvas& canvas, const Engine& engine) {
    const auto& state = *engine.parts_->state;
    canvas.section("engine");
    canvas.number(static_cast<std::uint64_t>(state.drain));
    for (const auto& link : state.links) core::Portrait::draw(canvas, link.reconnect);
    for (const auto& questions : state.questions) {
        canvas.section("questions");
        for (const auto& question : questions) {
            canvas.number(static_cast<std::uint64_t>(question.purpose));
            canvas.add(question.spec.name.value);
        }
    }
    for (const auto& queue : state.queues) engine::draw(canvas, state, queue);
    std::vector<const Held*> sorted;
    for (const auto& [key, held] : state.hand.all()) sorted.push_back(&held);
    std::sort(sorted.begin(), sorted.end(), [](const auto* a, const auto* b) { return a->key < b->key; });
    canvas.section("hand");
    for (const auto* held : sorted) engine::draw(canvas, *held);
    core::Portrait::draw(canvas, state.copies);
    core::Portrait::draw(canvas, state.orphans);
}

}  // namespace retryd::engine
