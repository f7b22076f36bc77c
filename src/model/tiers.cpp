#include "model/tiers.hpp"

#include <algorithm>
#include <cmath>
#include <set>

namespace retryd::model {
namespace {

Milliseconds within_bounds(double milliseconds) {
    const auto shortest = static_cast<double>(shortest_delay.count());
    const auto longest = static_cast<double>(longest_delay.count());
    return Milliseconds{std::llround(std::clamp(milliseconds, shortest, longest))};
}

// The share of the delay that the i-th of n queues waits.
double share_of(std::uint32_t i, std::uint32_t n, const RetryPolicy& retry) {
    if (retry.full_jitter) return static_cast<double>(i + 1) / n;
    if (n == 1) return 1;
    return 1 - retry.jitter.value + 2 * retry.jitter.value * i / (n - 1);
}

}  // namespace

std::vector<Milliseconds> spread_of(Milliseconds delay, const RetryPolicy& retry) {
    const std::uint32_t n = std::max(retry.spread, 1U);
    std::vector<Milliseconds> delays;
    delays.reserve(n);
    for (std::uint32_t i = 0; i < n; ++i) {
        delays.push_back(within_bounds(static_cast<double>(delay.count()) * share_of(i, n, retry)));
    }
    delays.erase(std::unique(delays.begin(), delays.end()), delays.end());
    return delays;
}

QueueName tier_name(const QueuePolicy& policy, TierKind kind, Milliseconds delay) {
    std::string name = policy.tier_prefix;
    name += kind == TierKind::delay ? "delay." : "hold.";
    name += std::to_string(delay.count()) + "ms";
    if (policy.retry.queue_type == QueueType::classic) name += ".classic";
    return {name};
}

QueueSpec plain_queue(const QueueName& name, QueueType type) {
    return {name, type, std::nullopt, {}};
}

QueueSpec tier_queue(const QueuePolicy& policy, TierKind kind, Milliseconds delay) {
    return {tier_name(policy, kind, delay), policy.retry.queue_type, delay, policy.lane};
}

std::set<QueueName> lots_of(const QueuePolicy& policy) {
    const auto& to = policy.to;
    return {policy.parked, policy.dlq, to.exhausted, to.age, to.held, to.expired, to.poison, to.permanent};
}

std::size_t queues_made(const QueuePolicy& policy) {
    std::set<QueueName> names = lots_of(policy);
    names.insert(policy.lane);
    const auto add_rung = [&](Milliseconds rung) {
        for (const Milliseconds delay : spread_of(rung, policy.retry)) names.insert(tier_name(policy, TierKind::delay, delay));
    };
    for (std::size_t i = 0; i < policy.retry.delays.size() && i < policy.retry.max; ++i) add_rung(policy.retry.delays[i]);
    for (const ClassifyRule& rule : policy.classify) {
        if (rule.as == Outcome::transient && rule.delay) add_rung(*rule.delay);
    }
    for (const Milliseconds delay : policy.hold.delays) names.insert(tier_name(policy, TierKind::hold, delay));
    names.erase(QueueName{});
    return names.size();
}

}  // namespace retryd::model
