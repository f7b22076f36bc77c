// `retry` and `hold`: every shape of delays becomes a list here, the core knows lists only.

#include "policyfile/keys.hpp"
#include "policyfile/queue_reader.hpp"

#include "model/tiers.hpp"

#include <algorithm>
#include <cmath>

namespace retryd::policyfile {

using namespace std::chrono_literals;
using model::longest_delay;
using model::Milliseconds;
using model::ProblemCode;
using model::QueueType;
using model::Ratio;
using model::shortest_delay;

namespace {

constexpr std::size_t longest_ladder = 64;
constexpr Range<Milliseconds> delay_range{shortest_delay, longest_delay};

// delay · factor^step, in whole ms, never over `cap`.
Milliseconds grown(Milliseconds delay, double factor, std::uint32_t step, Milliseconds cap) {
    const double value = static_cast<double>(delay.count()) * std::pow(factor, step);
    return value >= static_cast<double>(cap.count()) ? cap : Milliseconds{std::llround(value)};
}

void read_quick(const Field& quick, Values& values, model::RetryPolicy& retry) {
    std::vector<Milliseconds>& out = retry.quick;
    out.clear();
    if (quick.off() || quick.absent()) return;
    if (!quick.get().mapping()) {
        values.fault(quick, Values::shown(quick) + " is not understood",
                     "none, or {tries: 2, delay: 200ms, factor: 2, within: 1s}");
        return;
    }
    values.read(quick.at("skip_above"), {Ratio{0}, Ratio{1}}, retry.skip_quick_above);
    std::uint32_t tries = 0;
    Milliseconds delay = 200ms;
    Milliseconds within = 1s;
    double factor = 2;
    values.read(quick.at("tries"), {0, 10}, tries);
    values.read(quick.at("delay"), {1ms, 1min}, delay);
    values.read(quick.at("factor"), {1.0, 100.0}, factor);
    values.read(quick.at("within"), {1ms, 1min}, within);
    Milliseconds sum{0};
    for (std::uint32_t i = 0; i < tries; ++i) {
        const Milliseconds wait = grown(delay, factor, i, 1min);
        sum += wait;
        if (sum > within) break;
        out.push_back(wait);
    }
    if (out.size() == tries || quick.at("tries").built_in()) return;
    values.faults().warn(quick.at("tries").get().place,
                         quick.path + ".tries: only " + std::to_string(out.size()) + " of " + std::to_string(tries) +
                             " fit within " + to_text(within),
                         "raise within, or lower delay");
}

std::vector<Milliseconds> read_list(const Field& field, Values& values) {
    std::vector<Milliseconds> delays;
    if (field.get().items.size() > longest_ladder) {
        values.fault(field, "more than 64 delays", "max lets the last one repeat", ProblemCode::too_large);
        return delays;
    }
    for (const Node& item : field.get().items) {
        Milliseconds delay = shortest_delay;
        values.read(field.with(item), delay_range, delay);
        delays.push_back(delay);
    }
    return delays;
}

std::vector<Milliseconds> read_growing(const Field& field, Values& values) {
    check_keys_of(field.get(), {"base", "factor", "cap", "steps"}, field.path, values.faults());
    Milliseconds base = 1s;
    Milliseconds cap = 60s;
    double factor = 2;
    std::uint32_t steps = 6;
    values.read(field.at("base"), delay_range, base);
    values.read(field.at("factor"), {1.0, 100.0}, factor);
    values.read(field.at("cap"), delay_range, cap);
    values.read(field.at("steps"), {1, longest_ladder}, steps);
    if (base > cap) {
        values.fault(field, "base (" + to_text(base) + ") is over cap (" + to_text(cap) + ")",
                     "cap is the longest delay, 60s where it is not given");
    }
    std::vector<Milliseconds> delays;
    for (std::uint32_t step = 0; step < steps; ++step) delays.push_back(grown(base, factor, step, cap));
    return delays;
}

std::vector<Milliseconds> read_delays(const Field& field, Values& values) {
    if (field.get().list()) return read_list(field, values);
    if (field.get().mapping()) return read_growing(field, values);
    if (!field.off() && !field.absent()) {
        values.fault(field, Values::shown(field) + " is no list of delays",
                     "[1s, 5s, 30s], {base: 1s, factor: 2, cap: 60s, steps: 6}, or none");
    }
    return {};
}

void read_max(const Field& field, Values& values, model::RetryPolicy& out) {
    out.max = static_cast<std::uint32_t>(out.delays.size());
    values.read(field, {0, 1000}, out.max);
    if (!out.delays.empty() || out.max == 0) return;
    values.fault(field, "delayed retries without a delay", "give retry.delays, or leave max out");
}

void read_jitter(const Field& field, Values& values, model::RetryPolicy& out) {
    out.full_jitter = field.get().text == "full";
    if (!out.full_jitter) values.read(field, {Ratio{0}, Ratio{0.9}}, out.jitter);
}

// A key whose other value is due later.
void read_only_value(const Field& field, Values& values, const char* now, const char* later) {
    if (field.get().text == later) {
        values.fault(field, std::string(later) + " is not supported yet", now, ProblemCode::not_supported);
        return;
    }
    int value = 0;
    values.choose<int>(field, {{now, 0}}, value);
}

}  // namespace

void read_retry(const Field& retry, Values& values, model::RetryPolicy& out) {
    read_quick(retry.at("quick"), values, out);
    out.delays = read_delays(retry.at("delays"), values);
    read_max(retry.at("max"), values, out);
    read_jitter(retry.at("jitter"), values, out);
    values.read(retry.at("spread"), {1, 16}, out.spread);
    values.choose<QueueType>(retry.at("queue_type"), {{"quorum", QueueType::quorum}, {"classic", QueueType::classic}},
                             out.queue_type);
    read_only_value(retry.at("backend"), values, "queues", "plugin");
    read_only_value(retry.at("return_to"), values, "lane", "work");
}

void read_hold(const Field& hold, Values& values, model::HoldPolicy& out) {
    const Field delays = hold.at("delays");
    if (delays.get().list() && !delays.get().items.empty()) {
        out.delays = read_list(delays, values);
        const bool rising =
            std::adjacent_find(out.delays.begin(), out.delays.end(), std::greater_equal<>{}) == out.delays.end();
        if (!rising) values.fault(delays, "the delays do not rise", "each longer than the one before");
    } else if (!delays.absent()) {
        values.fault(delays, "a list of delays is due", "[15s, 1m, 5m, 30m, 2h]");
    }
    values.read(hold.at("max"), {1s, std::chrono::hours{24 * 3650}}, out.max);
    values.read(hold.at("max_retry_after"), {1s, longest_delay}, out.max_retry_after);
}

}  // namespace retryd::policyfile
