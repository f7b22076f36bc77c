#include "engine/orders.hpp"

#include <algorithm>

namespace retryd::engine {

using model::BreakerState;
using model::Order;
using Act = Order::Act;

namespace {

void log_order(State& state, const Order& order, std::string_view target, std::string_view who) {
    std::vector<std::pair<std::string_view, std::string>> fields{
        {target, order.target}, {"order", std::string(model::to_text(order.act))}, {"by", std::string(who)}};
    if (order.lasting) fields.emplace_back("for_ms", std::to_string(order.lasting->count()));
    if (order.act == Act::throttle) fields.emplace_back("retries", std::to_string(order.retries.value));
    log(state, model::LogLevel::warn, "operator_order", std::move(fields));
}

std::optional<BreakerState> forced_state(Act act) {
    switch (act) {
        case Act::open: return BreakerState::forced_open;
        case Act::close: return BreakerState::forced_closed;
        case Act::disable: return BreakerState::disabled;
        case Act::reset:
        case Act::pause:
        case Act::throttle:
        case Act::resume: break;
    }
    return std::nullopt;
}

void order_breaker(State& state, Guarded& guarded, const Order& order, std::string_view who) {
    const auto now = state.now.steady;
    const auto forced = forced_state(order.act);
    if (forced) guarded.forced_by = who;
    if (order.act == Act::reset && guarded.recovery) guarded.recovery->end();
    change(state, guarded, [&](core::Breaker& breaker) {
        if (!forced) return breaker.reset(now);
        breaker.force(*forced, order.lasting ? std::optional(now + *order.lasting) : std::nullopt, now);
    });
}

bool order_breaker(State& state, const Order& order, std::string_view who) {
    Guarded* found = nullptr;
    each_breaker(state, [&](Guarded& one) { found = one.name == order.target ? &one : found; });
    if (found == nullptr) return false;
    log_order(state, order, "breaker", who);
    order_breaker(state, *found, order, who);
    return true;
}

void order_queue(State& state, QueueState& queue, const Order& order, std::string_view who) {
    auto& guards = queue.guards;
    if (order.act == Act::pause && !guards.paused) {
        guards.paused = state.now.steady;
        guards.paused_by = who;
    } else if (order.act == Act::throttle) {
        guards.operator_share = order.retries.value;
        guards.throttled_by = who;
        guards.throttled_at = state.now.steady;
    } else if (order.act == Act::resume) {
        if (guards.paused) queue.watch.begin_slowly(state.now.steady);
        guards.paused.reset();
        guards.operator_share = 1;
    }
    set_lane_rate(state, queue);
    state.touch(queue);
}

bool order_queue(State& state, const Order& order, std::string_view who) {
    const auto queue = std::find_if(state.queues.begin(), state.queues.end(),
                                    [&](const QueueState& one) { return one.policy.name.value == order.target; });
    if (queue == state.queues.end()) return false;
    log_order(state, order, "queue", who);
    order_queue(state, *queue, order, who);
    return true;
}

}  // namespace

bool obey(State& state, const Order& order, std::string_view who) {
    const bool of_breaker =
        std::find(model::breaker_acts.begin(), model::breaker_acts.end(), order.act) != model::breaker_acts.end();
    return of_breaker ? order_breaker(state, order, who) : order_queue(state, order, who);
}

}  // namespace retryd::engine
