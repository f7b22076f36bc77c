#include "metrics/prometheus_text.hpp"

#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <sstream>
#include <string_view>
#include <utility>
#include <vector>

namespace retryd::metrics {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;
using Labels = std::vector<ClientMetric::Label>;

// Collects families in the order in which they are added.
class Families {
public:
    // What it returns is to be filled before the next family is added.
    MetricFamily& add(std::string name, MetricType type, std::string help) {
        return families_.emplace_back(MetricFamily{std::move(name), std::move(help), type, {}});
    }
    [[nodiscard]] std::string text() const {
        std::ostringstream out;
        prometheus::TextSerializer{}.Serialize(out, families_);
        return out.str();
    }

private:
    std::vector<MetricFamily> families_;
};

void add_value(MetricFamily& family, Labels labels, double value) {
    ClientMetric metric;
    metric.label = std::move(labels);
    (family.type == MetricType::Counter ? metric.counter.value : metric.gauge.value) = value;
    family.metric.push_back(std::move(metric));
}

void add_count(MetricFamily& family, Labels labels, std::uint64_t value) {
    add_value(family, std::move(labels), static_cast<double>(value));
}

void add_histogram(MetricFamily& family, Labels labels, const model::Histogram& histogram) {
    ClientMetric metric;
    metric.label = std::move(labels);
    std::uint64_t so_far = 0;
    for (std::size_t i = 0; i < histogram.bounds().size(); ++i) {
        so_far += histogram.counts()[i];
        metric.histogram.bucket.push_back({so_far, histogram.bounds()[i]});
    }
    metric.histogram.sample_count = so_far + histogram.counts().back();
    metric.histogram.sample_sum = histogram.sum();
    family.metric.push_back(std::move(metric));
}

Labels queue_label(const std::string& queue) {
    return {{"queue", queue}};
}

Labels labels(const std::string& queue, std::string name, std::string_view value) {
    return {{"queue", queue}, {std::move(name), std::string{value}}};
}

void add_deliveries(Families& families, const std::vector<model::QueueFigures>& queues) {
    auto& first =
        families.add("retryd_first_deliveries_total", MetricType::Counter, "Messages handed to a consumer for the first time");
    for (const auto& queue : queues) add_count(first, queue_label(queue.queue), queue.first_deliveries);

    auto& deliveries =
        families.add("retryd_deliveries_total", MetricType::Counter, "Deliveries to a consumer, by how they ended");
    for (const auto& queue : queues) {
        for (std::size_t i = 0; i < model::outcome_count; ++i) {
            const auto outcome = static_cast<model::Outcome>(i);
            add_count(deliveries, labels(queue.queue, "outcome", model::to_text(outcome)), queue.deliveries[i]);
        }
    }
    auto& seconds = families.add("retryd_delivery_seconds", MetricType::Histogram, "How long a delivery took");
    for (const auto& queue : queues) add_histogram(seconds, queue_label(queue.queue), queue.delivery_seconds);

    auto& again = families.add("retryd_redeliveries_total", MetricType::Counter,
                               "Messages that the broker gave us with the redelivered flag");
    for (const auto& queue : queues) add_count(again, queue_label(queue.queue), queue.redeliveries);

    auto& nameless = families.add("retryd_messages_without_id_total", MetricType::Counter, "Messages that had no message-id");
    for (const auto& queue : queues) add_count(nameless, queue_label(queue.queue), queue.without_id);
}

void add_copies(Families& families, const model::Figures& figures) {
    auto& scheduled = families.add("retryd_retries_scheduled_total", MetricType::Counter,
                                   "Confirmed copies in a delay queue, by rung, or in a hold queue");
    for (const auto& queue : figures.queues) {
        for (const auto& tier : queue.scheduled) add_count(scheduled, labels(queue.queue, "tier", tier.tier), tier.scheduled);
    }
    auto& lateness = families.add("retryd_retry_lateness_seconds", MetricType::Histogram,
                                  "How long after its time a delayed message was back in hand");
    for (const auto& queue : figures.queues) add_histogram(lateness, queue_label(queue.queue), queue.lateness_seconds);

    auto& parked = families.add("retryd_parked_total", MetricType::Counter, "Confirmed copies in a lot, by reason");
    for (const auto& queue : figures.queues) {
        for (std::size_t i = 0; i < model::reason_count; ++i) {
            const auto reason = static_cast<model::Reason>(i);
            add_count(parked, labels(queue.queue, "reason", model::to_text(reason)), queue.parked[i]);
        }
    }
    auto& confirm = families.add("retryd_confirm_seconds", MetricType::Histogram, "How long the broker took to confirm a copy");
    add_histogram(confirm, {}, figures.confirm_seconds);
}

void add_queues(Families& families, const std::vector<model::QueueView>& queues) {
    auto& flight = families.add("retryd_in_flight", MetricType::Gauge, "Messages handed to a consumer and not answered yet");
    for (const auto& queue : queues) add_count(flight, queue_label(queue.name.value), queue.in_flight);

    auto& hand = families.add("retryd_in_hand", MetricType::Gauge, "Messages taken from the broker and not settled yet");
    for (const auto& queue : queues) add_count(hand, queue_label(queue.name.value), queue.in_hand);

    auto& concurrency = families.add("retryd_concurrency", MetricType::Gauge, "Messages that may be at a consumer at once");
    for (const auto& queue : queues) add_count(concurrency, queue_label(queue.name.value), queue.concurrency);

    auto& depth =
        families.add("retryd_queue_depth", MetricType::Gauge, "Ready messages as the broker last said, by kind of queue");
    for (const auto& queue : queues) {
        std::map<std::string, std::uint64_t> by_kind;
        for (const auto& one : queue.depths) by_kind[one.kind] += one.messages;
        for (const auto& [kind, messages] : by_kind) add_count(depth, labels(queue.name.value, "kind", kind), messages);
    }
    auto& stall = families.add("retryd_stall", MetricType::Gauge, "1 while the cause holds the queue up");
    for (const auto& queue : queues) {
        for (std::size_t i = 0; i < model::cause_count; ++i) {
            const auto cause = static_cast<model::Cause>(i);
            const bool held_up = std::any_of(queue.stalls.begin(), queue.stalls.end(),
                                             [&](const model::StallView& one) { return one.cause == cause; });
            add_value(stall, labels(queue.name.value, "cause", model::to_text(cause)), held_up ? 1 : 0);
        }
    }
}

template <class State, std::size_t count>
void add_states(MetricFamily& family, const std::string& label, const std::string& name, std::optional<State> now,
                const std::array<std::uint64_t, count>* transitions) {
    for (std::size_t i = 0; i < count; ++i) {
        const auto state = static_cast<State>(i);
        Labels both{{label, name}, {"state", std::string{model::to_text(state)}}};
        const double value = transitions != nullptr ? static_cast<double>((*transitions)[i]) : (now == state ? 1 : 0);
        add_value(family, std::move(both), value);
    }
}

// Names of breakers stand in the label `dependency`: those of queues as "queue:orders".
void add_guards(Families& families, const model::StatusView& status) {
    auto& breaker = families.add("retryd_breaker_state", MetricType::Gauge, "1 for the state that the breaker is in");
    for (const auto& one : status.breakers)
        if (!one.is_unknown)
            add_states<model::BreakerState, model::breaker_state_count>(breaker, "dependency", one.name, one.state, nullptr);
    auto& moves =
        families.add("retryd_breaker_transitions_total", MetricType::Counter, "How often the breaker entered a state");
    for (const auto& one : status.breakers)
        if (!one.is_unknown) add_states<model::BreakerState>(moves, "dependency", one.name, std::nullopt, &one.transitions);

    auto& storm = families.add("retryd_storm_state", MetricType::Gauge, "1 for the state that the queue's retries are in");
    for (const auto& queue : status.queues)
        if (queue.storm)
            add_states<model::StormState, model::storm_state_count>(storm, "queue", queue.name.value, queue.storm, nullptr);
    auto& storms =
        families.add("retryd_storm_transitions_total", MetricType::Counter, "How often the queue's retries entered a state");
    for (const auto& queue : status.queues)
        if (queue.storm)
            add_states<model::StormState>(storms, "queue", queue.name.value, std::nullopt, &queue.storm_transitions);

    auto& tokens = families.add("retryd_budget_tokens", MetricType::Gauge, "How many messages may be given up now");
    for (const auto& queue : status.queues)
        for (const auto& budget : queue.budgets)
            add_value(tokens, labels(queue.name.value, "kind", budget.kind), budget.tokens);
}

void add_process(Families& families, const model::StatusView& status) {
    const auto up = [](const model::LinkView& link) { return link.up; };
    const auto blocked = [](const model::LinkView& link) { return link.blocked; };
    const bool connected = !status.links.empty() && std::all_of(status.links.begin(), status.links.end(), up);
    const bool any_blocked = std::any_of(status.links.begin(), status.links.end(), blocked);
    add_value(families.add("retryd_broker_connected", MetricType::Gauge, "1 while both links to the broker are up"), {},
              connected ? 1 : 0);
    add_value(families.add("retryd_broker_blocked", MetricType::Gauge, "1 while the broker's alarm stops our copies"), {},
              any_blocked ? 1 : 0);
    add_value(families.add("retryd_build_info", MetricType::Gauge, "Always 1; the version in the label"),
              {{"version", status.version}}, 1);
    add_value(families.add("retryd_policy_info", MetricType::Gauge, "Always 1; the hash of the policy in force in the label"),
              {{"hash", status.policy_hash}}, 1);
}

}  // namespace

std::string to_prometheus_text(const model::Figures& figures, const model::StatusView& status) {
    Families families;
    add_deliveries(families, figures.queues);
    add_copies(families, figures);
    add_queues(families, status.queues);
    add_guards(families, status);
    add_process(families, status);
    return families.text();
}

}  // namespace retryd::metrics
