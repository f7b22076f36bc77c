#include "metrics/prometheus_text.hpp"

#include <catch2/catch.hpp>

#include <cstdlib>
#include <map>
#include <set>
#include <sstream>
#include <string>

using namespace retryd;
using namespace std::chrono_literals;

namespace {

// A strict reader of the text format, for what we write: families one after the other, HELP, TYPE, samples.
struct Sample {
    std::string name;
    std::map<std::string, std::string> labels;
    double value = 0;
};
struct Family {
    std::string type;
    std::vector<Sample> samples;
};

std::string take_name(std::string_view& rest) {
    std::size_t size = 0;
    while (size < rest.size() && (std::isalnum(static_cast<unsigned char>(rest[size])) != 0 || rest[size] == '_')) ++size;
    REQUIRE(size > 0);
    std::string name{rest.substr(0, size)};
    rest.remove_prefix(size);
    return name;
}

void take(std::string_view& rest, char expected) {
    REQUIRE(!rest.empty());
    REQUIRE(rest.front() == expected);
    rest.remove_prefix(1);
}

std::string take_quoted(std::string_view& rest) {
    std::string value;
    take(rest, '"');
    while (!rest.empty() && rest.front() != '"') {
        char c = rest.front();
        rest.remove_prefix(1);
        if (c == '\\') {
            REQUIRE(!rest.empty());
            REQUIRE(std::string_view{"\\\"n"}.find(rest.front()) != std::string_view::npos);
            c = rest.front() == 'n' ? '\n' : rest.front();
            rest.remove_prefix(1);
        }
        value += c;
    }
    take(rest, '"');
    return value;
}

Sample read_sample(std::string_view line) {
    Sample sample{take_name(line), {}, 0};
    if (!line.empty() && line.front() == '{') {
        char next = '{';
        while (next != '}') {
            take(line, next);
            const std::string name = take_name(line);
            take(line, '=');
            REQUIRE(sample.labels.emplace(name, take_quoted(line)).second);
            REQUIRE(!line.empty());
            next = line.front() == ',' ? ',' : '}';
        }
        take(line, '}');
    }
    take(line, ' ');
    const std::string number{line};
    char* end = nullptr;
    sample.value = std::strtod(number.c_str(), &end);
    REQUIRE(!number.empty());
    REQUIRE(*end == '\0');
    return sample;
}

std::map<std::string, Family> read(const std::string& text) {
    REQUIRE(text.back() == '\n');
    std::map<std::string, Family> families;
    std::set<std::pair<std::string, std::map<std::string, std::string>>> series;
    std::istringstream lines{text};
    std::string current;
    for (std::string line; std::getline(lines, line);) {
        CAPTURE(line);
        if (line.substr(0, 7) == "# HELP ") {
            current = line.substr(7, line.find(' ', 7) - 7);
            REQUIRE(families.count(current) == 0);
        } else if (line.substr(0, 7) == "# TYPE ") {
            REQUIRE(line.substr(7, current.size() + 1) == current + " ");
            families[current].type = line.substr(8 + current.size());
        } else {
            Sample sample = read_sample(line);
            REQUIRE(sample.name.substr(0, current.size()) == current);
            const std::string suffix = sample.name.substr(current.size());
            const bool histogram = families[current].type == "histogram";
            REQUIRE((histogram ? suffix == "_bucket" || suffix == "_sum" || suffix == "_count" : suffix.empty()));
            REQUIRE(series.emplace(sample.name, sample.labels).second);
            families[current].samples.push_back(std::move(sample));
        }
    }
    return families;
}

using Labels = std::map<std::string, std::string>;

double value(const std::map<std::string, Family>& families, const std::string& family, const Labels& labels,
             const std::string& suffix = "") {
    CAPTURE(family);
    for (const Sample& sample : families.at(family).samples) {
        if (sample.name == family + suffix && sample.labels == labels) return sample.value;
    }
    FAIL("no such series");
    return 0;
}

model::Figures figures_of(const std::string& queue) {
    model::Figures figures;
    figures.queues.emplace_back();
    figures.queues[0].queue = queue;
    return figures;
}

model::StatusView status_of(const std::string& name) {
    model::StatusView status;
    status.version = "0.1.0";
    status.policy_hash = "3f2a9c";
    status.links = {{"consume", true, false, "", ""}, {"publish", true, false, "", ""}};
    status.queues.emplace_back();
    status.queues[0].name.value = name;
    return status;
}

}  // namespace

TEST_CASE("the metrics are these, of these types") {
    std::map<std::string, std::string> types;
    for (const auto& [name, family] : read(metrics::to_prometheus_text(figures_of("orders"), status_of("orders")))) {
        types[name] = family.type;
    }
    CHECK(types == std::map<std::string, std::string>{{"retryd_first_deliveries_total", "counter"},
                                                      {"retryd_deliveries_total", "counter"},
                                                      {"retryd_delivery_seconds", "histogram"},
                                                      {"retryd_retries_scheduled_total", "counter"},
                                                      {"retryd_retry_lateness_seconds", "histogram"},
                                                      {"retryd_parked_total", "counter"},
                                                      {"retryd_concurrency", "gauge"},
                                                      {"retryd_in_flight", "gauge"},
                                                      {"retryd_in_hand", "gauge"},
                                                      {"retryd_queue_depth", "gauge"},
                                                      {"retryd_stall", "gauge"},
                                                      {"retryd_breaker_state", "gauge"},
                                                      {"retryd_breaker_transitions_total", "counter"},
                                                      {"retryd_storm_state", "gauge"},
                                                      {"retryd_storm_transitions_total", "counter"},
                                                      {"retryd_budget_tokens", "gauge"},
                                                      {"retryd_confirm_seconds", "histogram"},
                                                      {"retryd_broker_connected", "gauge"},
                                                      {"retryd_broker_blocked", "gauge"},
                                                      {"retryd_redeliveries_total", "counter"},
                                                      {"retryd_messages_without_id_total", "counter"},
                                                      {"retryd_build_info", "gauge"},
                                                      {"retryd_policy_info", "gauge"}});
}

TEST_CASE("every outcome, reason and cause is there from the start, at 0") {
    const auto families = read(metrics::to_prometheus_text(figures_of("orders"), status_of("orders")));
    CHECK(families.at("retryd_deliveries_total").samples.size() == model::outcome_count);
    CHECK(families.at("retryd_parked_total").samples.size() == model::reason_count);
    CHECK(families.at("retryd_stall").samples.size() == model::cause_count);
    for (const auto* name : {"retryd_deliveries_total", "retryd_parked_total", "retryd_stall"}) {
        for (const Sample& sample : families.at(name).samples) CHECK(sample.value == 0);
    }
}

TEST_CASE("a breaker and a storm are one series for each state") {
    model::StatusView status = status_of("orders");
    model::BreakerView breaker;
    breaker.name = "payments";
    breaker.state = model::BreakerState::half_open;
    breaker.transitions[static_cast<std::size_t>(model::BreakerState::open)] = 3;
    model::BreakerView other;
    other.name = "other";
    other.is_unknown = true;
    status.breakers = {breaker, other};
    status.queues[0].storm = model::StormState::storm;
    status.queues[0].storm_transitions[static_cast<std::size_t>(model::StormState::storm)] = 2;
    status.queues[0].budgets = {{"park", 7.5, 100, false}};
    const auto families = read(metrics::to_prometheus_text(figures_of("orders"), status));
    CHECK(families.at("retryd_breaker_state").samples.size() == model::breaker_state_count);
    CHECK(value(families, "retryd_breaker_state", {{"dependency", "payments"}, {"state", "half-open"}}) == 1);
    CHECK(value(families, "retryd_breaker_state", {{"dependency", "payments"}, {"state", "open"}}) == 0);
    CHECK(value(families, "retryd_breaker_transitions_total", {{"dependency", "payments"}, {"state", "open"}}) == 3);
    CHECK(value(families, "retryd_storm_state", {{"queue", "orders"}, {"state", "storm"}}) == 1);
    CHECK(value(families, "retryd_storm_state", {{"queue", "orders"}, {"state", "calm"}}) == 0);
    CHECK(value(families, "retryd_storm_transitions_total", {{"queue", "orders"}, {"state", "storm"}}) == 2);
    CHECK(value(families, "retryd_budget_tokens", {{"queue", "orders"}, {"kind", "park"}}) == 7.5);
}

TEST_CASE("the figures are where they belong") {
    model::Figures figures = figures_of("orders");
    model::QueueFigures& queue = figures.queues[0];
    queue.first_deliveries = 9'007'199'254'740'992;
    queue.deliveries[static_cast<std::size_t>(model::Outcome::timeout)] = 3;
    queue.parked[static_cast<std::size_t>(model::Reason::exhausted)] = 2;
    queue.scheduled = {{"1", 7}, {"hold", 4}};
    queue.redeliveries = 5;
    queue.without_id = 6;
    model::StatusView status = status_of("orders");
    status.queues[0].in_flight = 8;
    status.queues[0].concurrency = 16;
    status.queues[0].in_hand = 12;
    status.queues[0].stalls = {{model::Cause::queue_missing, "no queue", 1s}};
    status.queues[0].depths = {{{"a"}, "delay", "800ms", 10}, {{"b"}, "delay", "1s", 11}, {{"p"}, "parked", "", 2}};
    status.links[1].blocked = true;
    const auto families = read(metrics::to_prometheus_text(figures, status));
    CHECK(value(families, "retryd_first_deliveries_total", {{"queue", "orders"}}) == 9'007'199'254'740'992.0);
    CHECK(value(families, "retryd_deliveries_total", {{"queue", "orders"}, {"outcome", "timeout"}}) == 3);
    CHECK(value(families, "retryd_parked_total", {{"queue", "orders"}, {"reason", "exhausted"}}) == 2);
    CHECK(value(families, "retryd_retries_scheduled_total", {{"queue", "orders"}, {"tier", "1"}}) == 7);
    CHECK(value(families, "retryd_retries_scheduled_total", {{"queue", "orders"}, {"tier", "hold"}}) == 4);
    CHECK(value(families, "retryd_redeliveries_total", {{"queue", "orders"}}) == 5);
    CHECK(value(families, "retryd_messages_without_id_total", {{"queue", "orders"}}) == 6);
    CHECK(value(families, "retryd_in_flight", {{"queue", "orders"}}) == 8);
    CHECK(value(families, "retryd_concurrency", {{"queue", "orders"}}) == 16);
    CHECK(value(families, "retryd_in_hand", {{"queue", "orders"}}) == 12);
    CHECK(value(families, "retryd_stall", {{"queue", "orders"}, {"cause", "queue-missing"}}) == 1);
    CHECK(value(families, "retryd_stall", {{"queue", "orders"}, {"cause", "broker-down"}}) == 0);
    CHECK(value(families, "retryd_queue_depth", {{"queue", "orders"}, {"kind", "delay"}}) == 21);
    CHECK(value(families, "retryd_queue_depth", {{"queue", "orders"}, {"kind", "parked"}}) == 2);
    CHECK(value(families, "retryd_broker_connected", {}) == 1);
    CHECK(value(families, "retryd_broker_blocked", {}) == 1);
    CHECK(value(families, "retryd_build_info", {{"version", "0.1.0"}}) == 1);
    CHECK(value(families, "retryd_policy_info", {{"hash", "3f2a9c"}}) == 1);
}

TEST_CASE("the broker is connected only while both links are up") {
    model::StatusView status = status_of("orders");
    status.links[0].up = false;
    CHECK(value(read(metrics::to_prometheus_text({}, status)), "retryd_broker_connected", {}) == 0);
    status.links.clear();
    CHECK(value(read(metrics::to_prometheus_text({}, status)), "retryd_broker_connected", {}) == 0);
}

TEST_CASE("buckets are cumulative and end in the count") {
    model::Figures figures = figures_of("orders");
    for (const double seconds : {0.0005, 0.003, 0.003, 2.0, 100.0}) figures.queues[0].delivery_seconds.observe(seconds);
    const auto families = read(metrics::to_prometheus_text(figures, status_of("orders")));
    const auto bucket = [&](const std::string& bound) {
        return value(families, "retryd_delivery_seconds", {{"queue", "orders"}, {"le", bound}}, "_bucket");
    };
    CHECK(bucket("0.001") == 1);
    CHECK(bucket("0.005") == 3);
    CHECK(bucket("1") == 3);
    CHECK(bucket("60") == 4);
    CHECK(bucket("+Inf") == 5);
    CHECK(value(families, "retryd_delivery_seconds", {{"queue", "orders"}}, "_count") == 5);
    CHECK(value(families, "retryd_delivery_seconds", {{"queue", "orders"}}, "_sum") == Approx(102.0065));
}

TEST_CASE("a hostile queue name stays inside its label") {
    const std::string name = "a\"} 1\nretryd_forged 1\n\\";
    const auto families = read(metrics::to_prometheus_text(figures_of(name), status_of(name)));
    CHECK(families.size() == 23);
    CHECK(value(families, "retryd_in_hand", {{"queue", name}}) == 0);
}
