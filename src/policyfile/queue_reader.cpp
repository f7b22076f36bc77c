#include "policyfile/queue_reader.hpp"

#include "policyfile/guards_reader.hpp"
#include "policyfile/keys.hpp"

#include <algorithm>

namespace retryd::policyfile {

using namespace std::chrono_literals;
using model::Milliseconds;
using model::ProblemCode;
using model::QueueName;
using model::QueuePolicy;
using model::QueueType;
using model::Ratio;

namespace {

constexpr Milliseconds longest_span = std::chrono::hours{24 * 3650};

void read_prefetch(const Field& field, Values& values, QueuePolicy& policy) {
    if (field.get().text == "auto") {
        policy.prefetch = std::clamp(2 * policy.deliver.concurrency, 128U, 65535U);
        return;
    }
    values.read(field, {1, 65535}, policy.prefetch);
    if (policy.prefetch >= policy.deliver.concurrency) return;
    values.faults().warn(field.get().place,
                         field.path + ": " + std::to_string(policy.prefetch) + " is less than deliver.concurrency (" +
                             std::to_string(policy.deliver.concurrency) + "), which is then never reached",
                         "auto");
}

void read_declare(const Field& field, Values& values, std::optional<QueueType>& out) {
    values.choose<std::optional<QueueType>>(
        field, {{"none", std::nullopt}, {"quorum", QueueType::quorum}, {"classic", QueueType::classic}}, out);
}

class DestinationReader {
public:
    DestinationReader(const OwnNames& names, Values& values, const QueuePolicy& policy)
        : names_(names), values_(values), policy_(policy) {}

    void read(const Field& field, QueueName& out) {
        if (!field.get().mapping()) {
            read_word(field, out);
            return;
        }
        for (const Entry& entry : field.get().entries) {
            if (entry.key != "exchange" && entry.key != "key") continue;
            values_.faults().add(entry.place, ProblemCode::not_supported,
                                 field.path + "." + entry.key + " is not supported yet", rule);
            return;
        }
        check_keys_of(field.get(), {"queue"}, field.path, values_.faults());
        const Field name = field.at("queue");
        if (name.absent()) values_.fault(field, "no queue is named", rule, ProblemCode::missing);
        if (const std::optional<std::string> text = values_.text(name)) out = named(name, *text);
    }

private:
    static constexpr const char* rule = "parked, dlq or {queue: NAME}";

    void read_word(const Field& field, QueueName& out) {
        const std::optional<std::string> word = values_.text(field);
        if (!word) return;
        if (*word != "parked" && *word != "dlq") values_.fault(field, Values::shown(field) + " is no place for messages", rule);
        out = *word == "dlq" ? policy_.dlq : policy_.parked;
    }

    QueueName named(const Field& field, const std::string& name) {
        const std::optional<std::string> meaning = names_.meaning(name);
        if (const auto trouble = queue_name_trouble(name)) {
            values_.fault(field, trouble->what, trouble->hint);
        } else if (name == policy_.name.value) {
            values_.fault(field, Values::shown(field) + " is the work queue itself, a circle", "another queue");
        } else if (meaning && !names_.is_lot(name)) {
            values_.fault(field, Values::shown(field) + " is " + *meaning, "another queue");
        }
        return {name};
    }

    const OwnNames& names_;
    Values& values_;
    const QueuePolicy& policy_;
};

void read_guards(const Field& queue, const std::vector<model::DependencyPolicy>& dependencies, Values& values,
                 QueuePolicy& policy) {
    const Field breaker = queue.at("breaker");
    policy.breaker.reset();
    if (!breaker.off()) read_breaker(breaker, values, policy.breaker.emplace());
    read_needs(queue.at("needs"), dependencies, values, policy.needs);
    read_budgets(queue.at("budgets"), values, policy.budgets);
    read_storm(queue.at("storm"), values, policy.storm);
}

// There must be one of the two ways to the consumer. `none` takes back what a wider section says.
void check_consumer(const QueueSection& section, const Field& deliver, Values& values) {
    const Field http = deliver.at("http");
    const Field stream = deliver.at("stream");
    const auto written = [](const Field& field) { return !field.absent() && !field.off(); };
    const auto given = [](const Field& field) { return !field.off() && !(field.absent() && field.built_in()); };
    if (written(http) && written(stream)) {
        values.fault(stream, "deliver.http (line " + std::to_string(http.get().place.line) + ") is given too",
                     "keep one of them; none takes back what stands in defaults or a group");
    } else if (!given(http) && !given(stream)) {
        values.faults().add(section.place, ProblemCode::missing,
                            "queue " + quoted(section.name) + " has no deliver.http and no deliver.stream",
                            "http://127.0.0.1:8080/path, or unix:/run/app/app.sock with path:");
    }
}

// What only a whole queue shows: where its path stands, and whether there is anything to ask.
void check_ready(const Field& deliver, Values& values) {
    const Field ready = deliver.at("ready");
    const Field stream = deliver.at("stream");
    if (ready.off() || ready.absent()) return;
    if (!stream.off() && !stream.absent()) {
        values.fault(ready,
                     "on deliver.stream (line " + std::to_string(stream.get().place.line) +
                         ") the consumer dials in, and a session is its readiness",
                     "leave it out; none takes back what stands in defaults or a group");
    } else if (ready.get().mapping() && ready.at("path").absent()) {
        values.fault(ready, "no path is named", "{path: /healthz}, or none", ProblemCode::missing);
    }
}

}  // namespace

void read_queue_values(const Field& queue, const std::vector<model::DependencyPolicy>& dependencies, Values& values,
                       QueuePolicy& policy) {
    read_deliver(queue.at("deliver"), values, policy.deliver);
    read_stream(queue.at("deliver"), values, policy.deliver.stream);
    read_classify(queue.at("classify"), values, policy.classify);
    read_retry(queue.at("retry"), values, policy.retry);
    read_hold(queue.at("hold"), values, policy.hold);
    values.read(queue.at("limits").at("age"), {1s, longest_span}, policy.age_limit);
    values.read(queue.at("limits").at("suspect_after"), {1, 1000}, policy.suspect_after);
    values.read(queue.at("limits").at("solo_tries"), {1, 100}, policy.solo_tries);
    values.read(queue.at("history"), {0, 100}, policy.history);
    values.read(queue.at("lane_share"), {Ratio{0.01}, Ratio{1}}, policy.lane_share);
    read_prefetch(queue.at("prefetch"), values, policy);
    read_declare(queue.at("declare"), values, policy.declare);
    read_guards(queue, dependencies, values, policy);
}

void read_queue_whole(const QueueSection& section, const OwnNames& names, Values& values, QueuePolicy& policy) {
    const Field queue{section.values, ""};
    check_consumer(section, queue.at("deliver"), values);
    check_ready(queue.at("deliver"), values);
    DestinationReader destinations(names, values, policy);
    const Field to = queue.at("to");
    destinations.read(to.at("exhausted"), policy.to.exhausted);
    destinations.read(to.at("age"), policy.to.age);
    destinations.read(to.at("held"), policy.to.held);
    destinations.read(to.at("expired"), policy.to.expired);
    destinations.read(to.at("poison"), policy.to.poison);
    destinations.read(to.at("permanent"), policy.to.permanent);
}

}  // namespace retryd::policyfile
