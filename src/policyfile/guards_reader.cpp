// `breaker`, `budgets`, `storm` and rates: what keeps retries from becoming the next outage.

#include "policyfile/guards_reader.hpp"

#include <algorithm>
#include <cmath>

namespace retryd::policyfile {

using namespace std::chrono_literals;
using model::BudgetPolicy;
using model::Frequency;
using model::Ratio;

namespace {

constexpr Ratio least_share{0.01};
constexpr Ratio whole{1};
constexpr std::uint32_t most_counted = 1'000'000;

void read_budget(const Field& budget, Values& values, std::optional<BudgetPolicy>& out) {
    out.reset();
    if (budget.off()) return;
    auto& policy = out.emplace();
    values.read(budget.at("per_success"), {0.0, 100.0}, policy.per_success);
    values.read(budget.at("burst"), {1, most_counted}, policy.burst);
    values.read(budget.at("floor"), {Frequency{0, 1s}, Frequency{1000, 1s}}, policy.floor);
}

}  // namespace

void read_rate(const Field& rate, const Field& burst, Values& values, std::optional<model::RatePolicy>& out) {
    out.reset();
    if (rate.off() || rate.absent()) return;
    auto& policy = out.emplace();
    values.read(rate, {Frequency{1, std::chrono::hours{24}}, Frequency{most_counted, 1s}}, policy.limit);
    policy.burst = std::max(static_cast<std::uint32_t>(std::lround(policy.limit.per_second())), 1U);  // a second's worth
    values.read(burst, {1, most_counted}, policy.burst);
}

void read_breaker(const Field& breaker, Values& values, model::BreakerPolicy& out) {
    values.read(breaker.at("window"), {1s, 1h}, out.window);
    values.read(breaker.at("failure_rate"), {least_share, whole}, out.failure_rate);
    values.read(breaker.at("min_calls"), {1, most_counted}, out.min_calls);
    values.read(breaker.at("all_fail"), {1, most_counted}, out.all_fail);
    values.read(breaker.at("open_for"), {100ms, 24h}, out.open_for);
    values.read(breaker.at("open_max"), {100ms, 24h}, out.open_max);
    values.read(breaker.at("half_open"), {1, 100}, out.half_open);
    if (out.open_for <= out.open_max) return;
    const Field& written = breaker.at("open_for").built_in() ? breaker.at("open_max") : breaker.at("open_for");
    values.fault(written, "open_for (" + to_text(out.open_for) + ") is over open_max (" + to_text(out.open_max) + ")",
                 "open_max is the longest that it grows to");
}

void read_budgets(const Field& budgets, Values& values, model::BudgetsPolicy& out) {
    if (budgets.off()) {
        out.park.reset();
        out.dead_letter.reset();
        return;
    }
    read_budget(budgets.at("park"), values, out.park);
    read_budget(budgets.at("dead_letter"), values, out.dead_letter);
}

void read_storm(const Field& storm, Values& values, std::optional<model::StormPolicy>& out) {
    out.reset();
    if (storm.off()) return;
    auto& policy = out.emplace();
    values.read(storm.at("failure_rate"), {least_share, whole}, policy.failure_rate);
    values.read(storm.at("growth"), {1.1, 100.0}, policy.growth);
    values.read(storm.at("within"), {30s, 1h}, policy.within);
    values.read(storm.at("min_depth"), {1, 1'000'000'000}, policy.min_depth);
    values.read(storm.at("retry_messages"), {least_share, whole}, policy.retry_messages);
    values.read(storm.at("damp"), {least_share, whole}, policy.damp);
    values.read(storm.at("stretch"), {0, 10}, policy.stretch);
    values.read(storm.at("calm_for"), {1s, 24h}, policy.calm_for);
}

}  // namespace retryd::policyfile
