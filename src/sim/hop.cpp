#include "sim/hop.hpp"

#include "model/header_table.hpp"
#include "model/properties.hpp"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <vector>

namespace retryd::sim {

namespace {

using model::HeaderView;

std::vector<HeaderView> headers_of(const model::Properties& properties) {
    auto headers = model::read_table(properties.headers.value_or(""));
    return headers ? *headers : std::vector<HeaderView>{};
}

// The entry of x-death for this queue: how often it has expired there.
std::int64_t deaths_in(std::string_view x_death, std::string_view queue) {
    const auto entries = model::read_array(x_death);
    if (!entries) return 0;
    for (const auto& entry : *entries) {
        const auto table = model::content(entry);
        const auto fields = entry.type == 'F' ? model::read_table(*table) : model::read_table("");
        if (!fields) continue;
        const auto* name = model::find_header(*fields, "queue");
        const auto* count = model::find_header(*fields, "count");
        if (name == nullptr || model::content(name->value) != queue) continue;
        return count == nullptr ? 0 : model::integer(count->value).value_or(0);
    }
    return 0;
}

std::string death_entry(std::int64_t count, const model::QueueName& queue, const std::string& exchange,
                        const std::string& routing_key) {
    model::TableWriter entry;
    entry.add_long("count", count);
    entry.add_string("reason", "expired");
    entry.add_string("queue", queue.value);
    entry.add_string("exchange", exchange);
    entry.add_string("routing-key", routing_key);
    std::string array;
    model::append_table_value(array, entry.bytes());
    return array;
}

bool is_dropped_on_a_hop(std::string_view name) {
    return name == "CC" || name == "BCC" || name == "x-death" || name == "x-delivery-count";
}

}  // namespace

std::string after_hop(const std::string& properties, const model::QueueName& queue, const std::string& exchange,
                      const std::string& routing_key) {
    auto read = model::read_properties(properties);
    if (!read) return properties;
    auto headers = headers_of(*read);
    std::stable_sort(headers.begin(), headers.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
    const auto* x_death = model::find_header(headers, "x-death");
    const bool first = model::find_header(headers, "x-first-death-queue") == nullptr;
    const auto before = x_death == nullptr ? 0 : deaths_in(model::content(x_death->value).value_or(""), queue.value);
    model::TableWriter table;
    for (const auto& header : headers)
        if (!is_dropped_on_a_hop(header.name)) table.add(header.name, header.value);
    table.add_array("x-death", death_entry(before + 1, queue, exchange, routing_key));
    if (first) {
        table.add_string("x-first-death-exchange", exchange);
        table.add_string("x-first-death-queue", queue.value);
        table.add_string("x-first-death-reason", "expired");
    }
    read->headers = table.bytes();
    read->expiration.reset();
    return model::write_properties(*read);
}

std::string with_delivery_count(const std::string& properties, std::uint32_t count) {
    auto read = model::read_properties(properties);
    if (!read) return properties;
    model::TableWriter table;
    for (const auto& header : headers_of(*read))
        if (header.name != "x-delivery-count") table.add(header.name, header.value);
    table.add_long("x-delivery-count", count);
    read->headers = table.bytes();
    return model::write_properties(*read);
}

std::optional<model::Milliseconds> own_ttl(const std::string& properties) {
    const auto read = model::read_properties(properties);
    if (!read || !read->expiration) return std::nullopt;
    std::int64_t ms = 0;
    const auto* end = read->expiration->data() + read->expiration->size();
    const auto [rest, error] = std::from_chars(read->expiration->data(), end, ms);
    if (error != std::errc{} || rest != end || ms < 0) return std::nullopt;
    return model::Milliseconds{ms};
}

}  // namespace retryd::sim
