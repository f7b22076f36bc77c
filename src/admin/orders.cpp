#include "admin/orders.hpp"

#include "admin/columns.hpp"
#include "admin/query.hpp"
#include "admin/status_json.hpp"
#include "admin/wording.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

namespace retryd::admin {
namespace {

using model::BreakerView;
using model::Order;
using model::Problem;
using model::ProblemCode;
using Act = Order::Act;

constexpr std::int64_t longest = 366LL * 24 * 3600 * 1000;  // ms

std::optional<std::int64_t> number(std::string_view target, std::string_view name) {
    const auto text = parameter(target, name);
    std::int64_t value = 0;
    if (!text) return std::nullopt;
    const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
    if (error != std::errc{} || end != text->data() + text->size()) return std::nullopt;
    return value;
}

Problem misuse(std::string what) {
    return {ProblemCode::bad_value, "", std::move(what), ""};
}

model::Result<Order> breaker_order(std::string_view target) {
    Order order;
    order.target = parameter(target, "name").value_or("");
    const auto act = parameter(target, "act").value_or("");
    const auto* const known = std::find_if(model::breaker_acts.begin(), model::breaker_acts.end(),
                                           [&](Act one) { return model::to_text(one) == act; });
    if (order.target.empty() || known == model::breaker_acts.end())
        return misuse("say which breaker, and what: /breaker?name=NAME&act=open, close, disable or reset");
    order.act = *known;
    if (!parameter(target, "for_ms")) return order;
    const auto lasting = number(target, "for_ms");
    if (!lasting || *lasting < 1 || *lasting > longest || order.act == Act::reset)
        return misuse("for_ms is a number of milliseconds, at most a year, for open, close and disable");
    order.lasting = model::Milliseconds{*lasting};
    return order;
}

std::optional<Act> queue_act(std::string_view path) {
    for (const auto act : {Act::pause, Act::resume, Act::throttle})
        if (path.substr(1) == model::to_text(act)) return act;
    return std::nullopt;
}

model::Result<Order> queue_order(Act act, std::string_view target) {
    const std::string name{model::to_text(act)};
    Order order{.act = act, .target = parameter(target, "queue").value_or(""), .lasting = std::nullopt, .retries = {1}};
    if (order.target.empty()) return misuse("say which queue: /" + name + "?queue=NAME");
    if (act != Act::throttle) return order;
    const auto percent = number(target, "percent");
    if (!percent || *percent < 1 || *percent > 100)
        return misuse("say what share of its normal rate the return lane has, 1 to 100: /throttle?queue=NAME&percent=20");
    order.retries = {static_cast<double>(*percent) / 100};
    return order;
}

Row row_of(const BreakerView& breaker) {
    return {breaker.name,
            std::string(model::to_text(breaker.state)),
            span_text(breaker.lasting),
            count_text(breaker.calls),
            count_text(breaker.failed),
            count_text(breaker.slow),
            count_text(breaker.probes_in_flight)};
}

std::string text_of(const std::vector<BreakerView>& breakers) {
    if (breakers.empty()) return "The policy has no breakers.\n";
    std::vector<Row> rows{{"BREAKER", "STATE", "FOR", "CALLS", "FAILED", "SLOW", "PROBES"}};
    for (const auto& breaker : breakers) rows.push_back(row_of(breaker));
    std::string text = set_table(rows, 2);
    for (const auto& breaker : breakers) {
        auto why = clean(breaker.why) + ".";
        if (breaker.recovering_at > 0)
            why += " Until nobody waits any more it lets " + std::to_string(static_cast<int>(breaker.recovering_at + 0.5)) +
                   " calls a second pass.";
        text += "\n" + breaker.name + "\n" + paragraph(why, 2, 2);
    }
    return text;
}

std::vector<BreakerView> breakers_named(const std::string& name, const model::StatusView& status) {
    std::vector<BreakerView> found;
    std::copy_if(status.breakers.begin(), status.breakers.end(), std::back_inserter(found),
                 [&](const BreakerView& one) { return one.name == name; });
    return found;
}

bool is_of_breaker(const Order& order) {
    return std::find(model::breaker_acts.begin(), model::breaker_acts.end(), order.act) != model::breaker_acts.end();
}

std::string queue_text(const model::QueueView& queue) {
    std::string text = queue.name.value;
    if (!queue.paused_by.empty()) text += " is paused by " + queue.paused_by + ": nothing is delivered until it is resumed.";
    if (!queue.throttled_by.empty())
        text += std::string(queue.paused_by.empty() ? "" : " It") + " is throttled by " + queue.throttled_by +
                ": its return lane has " + std::to_string(static_cast<int>(queue.throttled_to * 100 + 0.5)) +
                " % of its normal rate, " + std::to_string(static_cast<int>(queue.lane_rate.value_or(1) + 0.5)) +
                " calls a second.";
    if (queue.paused_by.empty() && queue.throttled_by.empty()) text += " is neither paused nor throttled.";
    return paragraph(text, 0, 0);
}

}  // namespace

model::Result<Order> order_in(std::string_view target) {
    const auto act = queue_act(path_of(target));
    return act ? queue_order(*act, target) : breaker_order(target);
}

std::string breakers_page(const model::StatusView& status) {
    return breakers_json(status.breakers, text_of(status.breakers));
}

std::string order_page(const Order& order, const model::StatusView& status) {
    if (is_of_breaker(order)) {
        const auto breakers = breakers_named(order.target, status);
        return breakers_json(breakers, text_of(breakers));
    }
    std::string text;
    for (const auto& queue : status.queues)
        if (queue.name.value == order.target) text = queue_text(queue);
    return breakers_json({}, text);
}

std::string names_for(const Order& order, const model::StatusView& status) {
    std::string names;
    const auto add = [&](const std::string& name) { names += (names.empty() ? "" : ", ") + clean(name); };
    if (is_of_breaker(order)) {
        for (const auto& breaker : status.breakers)
            if (!breaker.is_unknown) add(breaker.name);
    } else {
        for (const auto& queue : status.queues) add(queue.name.value);
    }
    return names.empty() ? "none" : names;
}

}  // namespace retryd::admin
