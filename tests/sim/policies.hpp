#pragma once
// Policies for scenarios: complete, with the built-in values but for the slow start, the guards and what
// a scenario says.

#include "model/policy.hpp"

#include <functional>
#include <memory>
#include <string>
#include <utility>

namespace retryd::sim {

using namespace std::chrono_literals;

inline void without_guards(model::QueuePolicy& queue) {
    queue.breaker.reset();
    queue.budgets = {std::nullopt, std::nullopt};
    queue.storm.reset();
    queue.retry.skip_quick_above.reset();
}

// The built-in ones.
inline void with_guards(model::QueuePolicy& queue) {
    const model::QueuePolicy standard;
    queue.breaker = standard.breaker;
    queue.budgets = standard.budgets;
    queue.storm = standard.storm;
    queue.retry.skip_quick_above = standard.retry.skip_quick_above;
}

inline model::QueuePolicy queue_policy(const std::string& name) {
    model::QueuePolicy queue;
    queue.name = {name};
    queue.lane = {"retryd." + name + ".lane"};
    queue.parked = {"retryd." + name + ".parked"};
    queue.dlq = {"retryd." + name + ".dlq"};
    queue.tier_prefix = "retryd." + name + ".";
    queue.deliver.http.path = "/" + name;
    queue.deliver.slow_start.reset();
    queue.retry.delays = {100ms, 200ms, 400ms};
    queue.retry.max = 3;
    without_guards(queue);
    queue.to = {queue.parked, queue.parked, queue.parked, queue.parked, queue.parked, queue.dlq};
    return queue;
}

// One queue, `orders`: delays 100, 200, 400 ms, no quick tries, no guards.
inline model::PolicyPtr orders(const std::function<void(model::QueuePolicy&)>& change = {}) {
    auto policy = std::make_shared<model::Policy>();
    policy->broker.addresses = {{}};
    policy->queues = {queue_policy("orders")};
    if (change) change(policy->queues[0]);
    return policy;
}

inline const model::QueueName parked{"retryd.orders.parked"};
inline const model::QueueName dlq{"retryd.orders.dlq"};
inline const model::QueueName lane{"retryd.orders.lane"};

}  // namespace retryd::sim
