#include "admin/status_json.hpp"

#include "model/ledger.hpp"

#include <boost/json.hpp>

#include <exception>

namespace retryd::admin {
namespace {

namespace json = boost::json;
using model::Problem;
using model::ProblemCode;

json::string clean(std::string_view text) {
    return json::string{model::cut_text(text, text.size())};
}

json::value written(const model::StallView& stall) {
    return json::object{{"cause", json::string{model::to_text(stall.cause)}},
                        {"detail", clean(stall.detail)},
                        {"lasting_ms", stall.lasting.count()}};
}

json::value written(const model::DepthView& depth) {
    return json::object{{"queue", clean(depth.queue.value)},
                        {"kind", clean(depth.kind)},
                        {"tier", clean(depth.tier)},
                        {"messages", depth.messages}};
}

template <std::size_t count>
json::array written(const std::array<std::uint64_t, count>& numbers) {
    json::array array;
    for (const auto number : numbers) array.emplace_back(number);
    return array;
}

json::value written(const model::BreakerView& breaker) {
    return json::object{{"name", clean(breaker.name)},
                        {"state", json::string{model::to_text(breaker.state)}},
                        {"lasting_ms", breaker.lasting.count()},
                        {"left_ms", breaker.left ? json::value(breaker.left->count()) : json::value()},
                        {"window_ms", breaker.window.count()},
                        {"calls", breaker.calls},
                        {"failed", breaker.failed},
                        {"slow", breaker.slow},
                        {"probes_in_flight", breaker.probes_in_flight},
                        {"why", clean(breaker.why)},
                        {"forced_by", clean(breaker.forced_by)},
                        {"recovering_at", breaker.recovering_at},
                        {"transitions", written(breaker.transitions)}};
}

json::value written(const model::BudgetView& budget) {
    return json::object{
        {"kind", clean(budget.kind)}, {"tokens", budget.tokens}, {"burst", budget.burst}, {"spent", budget.spent}};
}

json::value written(const model::LinkView& link) {
    return json::object{{"name", clean(link.name)},
                        {"up", link.up},
                        {"blocked", link.blocked},
                        {"address", clean(link.address)},
                        {"trouble", clean(link.trouble)}};
}

using Deliveries = std::array<std::uint64_t, model::outcome_count>;

json::value by_outcome(const Deliveries& deliveries) {
    json::object object;
    for (std::size_t i = 0; i < deliveries.size(); ++i)
        object.emplace(json::string_view{model::to_text(static_cast<model::Outcome>(i))}, deliveries[i]);
    return object;
}

json::value written(const model::QueueView& queue);

template <class View>
json::array written(const std::vector<View>& views) {
    json::array array;
    array.reserve(views.size());
    for (const View& view : views) array.push_back(written(view));
    return array;
}

json::value written(const model::QueueView& queue) {
    return json::object{{"name", clean(queue.name.value)},
                        {"consumer", clean(queue.consumer)},
                        {"state", clean(queue.state)},
                        {"stalls", written(queue.stalls)},
                        {"in_hand", queue.in_hand},
                        {"in_flight", queue.in_flight},
                        {"suspects", queue.suspects},
                        {"waiting_quick", queue.waiting_quick},
                        {"being_copied", queue.being_copied},
                        {"concurrency", queue.concurrency},
                        {"concurrency_max", queue.concurrency_max},
                        {"slots", queue.slots},
                        {"credit", queue.credit ? json::value(*queue.credit) : json::value()},
                        {"held_back", queue.held_back},
                        {"deliveries", by_outcome(queue.deliveries)},
                        {"delivery_seconds", queue.delivery_seconds},
                        {"budgets", written(queue.budgets)},
                        {"storm", queue.storm ? json::value(json::string{model::to_text(*queue.storm)}) : json::value()},
                        {"storm_transitions", written(queue.storm_transitions)},
                        {"lane_rate", queue.lane_rate ? json::value(*queue.lane_rate) : json::value()},
                        {"paused_by", clean(queue.paused_by)},
                        {"throttled_by", clean(queue.throttled_by)},
                        {"throttled_to", queue.throttled_to},
                        {"subscribed_work", queue.subscribed_work},
                        {"subscribed_lane", queue.subscribed_lane},
                        {"depths", written(queue.depths)}};
}

// The readers throw what Boost.JSON throws on a missing key or a wrong type; status_from_json turns it into a value.
std::string text_of(const json::value& value) {
    return std::string{value.as_string()};
}

template <class Number>
void read(const json::value& value, Number& number) {
    number = json::value_to<Number>(value);
}

model::Cause cause_of(std::string_view text) {
    for (std::size_t i = 0; i < model::cause_count; ++i) {
        const auto cause = static_cast<model::Cause>(i);
        if (model::to_text(cause) == text) return cause;
    }
    throw std::runtime_error("unknown cause");
}

void read(const json::value& value, model::StallView& stall) {
    stall.cause = cause_of(value.at("cause").as_string());
    stall.detail = text_of(value.at("detail"));
    stall.lasting = model::Milliseconds{json::value_to<std::int64_t>(value.at("lasting_ms"))};
}

void read(const json::value& value, model::DepthView& depth) {
    depth.queue.value = text_of(value.at("queue"));
    depth.kind = text_of(value.at("kind"));
    depth.tier = text_of(value.at("tier"));
    read(value.at("messages"), depth.messages);
}

// The enumerator of that name.
template <class Enum, std::size_t count>
Enum named(const json::value& value) {
    for (std::size_t i = 0; i < count; ++i)
        if (model::to_text(static_cast<Enum>(i)) == std::string_view{value.as_string()}) return static_cast<Enum>(i);
    throw std::runtime_error("unknown name");
}

template <std::size_t count>
void read(const json::value& value, std::array<std::uint64_t, count>& numbers) {
    for (std::size_t i = 0; i < count; ++i) numbers[i] = json::value_to<std::uint64_t>(value.as_array().at(i));
}

void read(const json::value& value, model::Milliseconds& span) {
    span = model::Milliseconds{json::value_to<std::int64_t>(value)};
}

void read(const json::value& value, model::BreakerView& breaker) {
    breaker.name = text_of(value.at("name"));
    breaker.state = named<model::BreakerState, model::breaker_state_count>(value.at("state"));
    read(value.at("lasting_ms"), breaker.lasting);
    if (!value.at("left_ms").is_null()) read(value.at("left_ms"), breaker.left.emplace());
    read(value.at("window_ms"), breaker.window);
    read(value.at("calls"), breaker.calls);
    read(value.at("failed"), breaker.failed);
    read(value.at("slow"), breaker.slow);
    read(value.at("probes_in_flight"), breaker.probes_in_flight);
    breaker.why = text_of(value.at("why"));
    breaker.forced_by = text_of(value.at("forced_by"));
    read(value.at("recovering_at"), breaker.recovering_at);
    read(value.at("transitions"), breaker.transitions);
}

void read(const json::value& value, model::BudgetView& budget) {
    budget.kind = text_of(value.at("kind"));
    read(value.at("tokens"), budget.tokens);
    read(value.at("burst"), budget.burst);
    budget.spent = value.at("spent").as_bool();
}

void read(const json::value& value, model::LinkView& link) {
    link.name = text_of(value.at("name"));
    link.up = value.at("up").as_bool();
    link.blocked = value.at("blocked").as_bool();
    link.address = text_of(value.at("address"));
    link.trouble = text_of(value.at("trouble"));
}

void read_by_outcome(const json::value& value, Deliveries& deliveries) {
    for (std::size_t i = 0; i < deliveries.size(); ++i)
        read(value.at(json::string_view{model::to_text(static_cast<model::Outcome>(i))}), deliveries[i]);
}

void read(const json::value& value, model::QueueView& queue);

template <class View>
void read(const json::value& value, std::vector<View>& views) {
    for (const json::value& element : value.as_array()) read(element, views.emplace_back());
}

void read(const json::value& value, model::QueueView& queue) {
    queue.name.value = text_of(value.at("name"));
    queue.consumer = text_of(value.at("consumer"));
    queue.state = text_of(value.at("state"));
    read(value.at("stalls"), queue.stalls);
    read(value.at("in_hand"), queue.in_hand);
    read(value.at("in_flight"), queue.in_flight);
    read(value.at("suspects"), queue.suspects);
    read(value.at("waiting_quick"), queue.waiting_quick);
    read(value.at("being_copied"), queue.being_copied);
    read(value.at("concurrency"), queue.concurrency);
    read(value.at("concurrency_max"), queue.concurrency_max);
    read(value.at("slots"), queue.slots);
    if (!value.at("credit").is_null()) read(value.at("credit"), queue.credit.emplace());
    queue.held_back = value.at("held_back").as_bool();
    read_by_outcome(value.at("deliveries"), queue.deliveries);
    read(value.at("delivery_seconds"), queue.delivery_seconds);
    read(value.at("budgets"), queue.budgets);
    if (!value.at("storm").is_null()) queue.storm = named<model::StormState, model::storm_state_count>(value.at("storm"));
    read(value.at("storm_transitions"), queue.storm_transitions);
    if (!value.at("lane_rate").is_null()) read(value.at("lane_rate"), queue.lane_rate.emplace());
    queue.paused_by = text_of(value.at("paused_by"));
    queue.throttled_by = text_of(value.at("throttled_by"));
    read(value.at("throttled_to"), queue.throttled_to);
    queue.subscribed_work = value.at("subscribed_work").as_bool();
    queue.subscribed_lane = value.at("subscribed_lane").as_bool();
    read(value.at("depths"), queue.depths);
}

void read(const json::value& value, model::StatusView& status) {
    status.at = model::WallTime{model::Milliseconds{json::value_to<std::int64_t>(value.at("at_ms"))}};
    status.version = text_of(value.at("version"));
    status.policy_hash = text_of(value.at("policy_hash"));
    status.broker_version = text_of(value.at("broker_version"));
    status.ready = value.at("ready").as_bool();
    status.draining = value.at("draining").as_bool();
    status.drained = value.at("drained").as_bool();
    read(value.at("memory_used"), status.memory_used);
    read(value.at("memory_limit"), status.memory_limit);
    read(value.at("links"), status.links);
    read(value.at("breakers"), status.breakers);
    read(value.at("queues"), status.queues);
}

}  // namespace

std::string to_json(const model::StatusView& status) {
    return json::serialize(json::object{{"at_ms", status.at.time_since_epoch().count()},
                                        {"version", clean(status.version)},
                                        {"policy_hash", clean(status.policy_hash)},
                                        {"broker_version", clean(status.broker_version)},
                                        {"ready", status.ready},
                                        {"draining", status.draining},
                                        {"drained", status.drained},
                                        {"memory_used", status.memory_used},
                                        {"memory_limit", status.memory_limit},
                                        {"links", written(status.links)},
                                        {"breakers", written(status.breakers)},
                                        {"queues", written(status.queues)}});
}

std::string breakers_json(const std::vector<model::BreakerView>& breakers, std::string_view text) {
    return json::serialize(
        json::object{{"breakers", written(breakers)}, {"text", json::string_view{text.data(), text.size()}}});
}

model::Result<model::StatusView> status_from_json(std::string_view text) {
    try {
        model::StatusView status;
        read(json::parse(json::string_view{text.data(), text.size()}), status);
        return status;
    } catch (const std::exception&) {
        return Problem{ProblemCode::bad_syntax, "", "the answer is not a status that this retryctl understands",
                       "use the retryctl of the daemon's version"};
    }
}

}  // namespace retryd::admin
