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

json::value written(const model::LinkView& link) {
    return json::object{{"name", clean(link.name)},
                        {"up", link.up},
                        {"blocked", link.blocked},
                        {"address", clean(link.address)},
                        {"trouble", clean(link.trouble)}};
}

using Deliveries = std::array<std::uint64_t, model::outcome_count>;

json::value written(const Deliveries& deliveries) {
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
                        {"slots", queue.slots},
                        {"credit", queue.credit ? json::value(*queue.credit) : json::value()},
                        {"held_back", queue.held_back},
                        {"deliveries", written(queue.deliveries)},
                        {"delivery_seconds", queue.delivery_seconds},
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

void read(const json::value& value, model::LinkView& link) {
    link.name = text_of(value.at("name"));
    link.up = value.at("up").as_bool();
    link.blocked = value.at("blocked").as_bool();
    link.address = text_of(value.at("address"));
    link.trouble = text_of(value.at("trouble"));
}

void read(const json::value& value, Deliveries& deliveries) {
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
    read(value.at("slots"), queue.slots);
    if (!value.at("credit").is_null()) read(value.at("credit"), queue.credit.emplace());
    queue.held_back = value.at("held_back").as_bool();
    read(value.at("deliveries"), queue.deliveries);
    read(value.at("delivery_seconds"), queue.delivery_seconds);
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
                                        {"queues", written(status.queues)}});
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
