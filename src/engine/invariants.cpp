// Inner invariants, held by the tests after every step: a broken one is a broken program.

#include "engine/engine.hpp"
#include "engine/parts.hpp"

#include <cstdio>
#include <cstdlib>

namespace retryd::engine {

namespace {

void demand(bool holds, const char* sentence) {
    if (holds) return;
    std::fprintf(stderr, "broken invariant: %s\n", sentence);
    std::abort();
}

struct Counts {
    std::uint32_t in_hand = 0, in_flight = 0, lane_in_flight = 0, copying = 0;
    std::array<std::uint32_t, core::company_count> company{};  // in flight
};

void check_company(const Counts& count, std::uint32_t concurrency) {
    const auto of = [&](core::Company company) { return count.company[static_cast<std::size_t>(company)]; };
    for (const auto some : count.company)
        demand(some == 0 || some == count.in_flight, "each company has the consumer to itself");
    demand(of(core::Company::suspects) <= core::suspects_at_once(concurrency), "suspects keep to a quarter of the concurrency");
    demand(of(core::Company::accused) <= 1, "the accused are tried alone");
}

// Every permit has an owner at the consumer.
void check_permits(State& state) {
    each_breaker(state, [&](const Guarded& guarded) {
        std::uint32_t probing = 0;
        if (guarded.breaker.probes_in_flight() == 0) return;
        for (const auto& [key, held] : state.hand.all())
            if (held.state == Held::State::at_consumer && guarded.breaker.is_probe(key)) ++probing;
        demand(probing == guarded.breaker.probes_in_flight(), "every permit of a breaker is with a delivery at the consumer");
    });
}

}  // namespace

void Engine::check_invariants() const {
    const auto& state = *parts_->state;
    std::vector<Counts> counts(state.queues.size());
    std::uint64_t bytes = 0;
    for (const auto& [key, held] : state.hand.all()) {
        auto& count = counts[held.queue().value];
        ++count.in_hand;
        bytes += cost_of(*held.message);
        if (held.state == Held::State::at_consumer) {
            ++count.in_flight;
            if (held.side() == model::Side::lane) ++count.lane_in_flight;
            ++count.company[static_cast<std::size_t>(core::company_of(held.stay.standing))];
        }
        if (held.state == Held::State::copying) ++count.copying;
        demand(held.key == key, "a message lies under its own key");
        demand(!held.orphan || held.state == Held::State::at_consumer || held.state == Held::State::copying,
               "an orphan stays only while the consumer or the publish link still has it");
    }
    demand(bytes == state.hand.bytes(), "the bytes in hand are the sum of what is in hand");
    std::uint32_t copying = 0;
    for (const auto& queue : state.queues) {
        const auto& count = counts[queue.id.value];
        demand(count.in_hand == queue.in_hand, "every message in hand is counted once");
        demand(count.in_flight == queue.in_flight, "every slot taken has a message at the consumer");
        demand(count.lane_in_flight == queue.lane_in_flight, "every lane slot taken has a lane message at the consumer");
        demand(count.copying == queue.copying, "every copy under way has its original in hand");
        demand(queue.in_flight <= queue.policy.deliver.concurrency, "deliveries keep to the concurrency");
        check_company(count, queue.policy.deliver.concurrency);
        copying += queue.copying;
    }
    check_permits(*parts_->state);
    demand(copying == state.copies.size(), "every copy has an original, and every original its copy");
}

}  // namespace retryd::engine
