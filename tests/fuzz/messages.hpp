#pragma once
// Messages as a hostile producer may send them.

#include "fuzz/input.hpp"
#include "model/header_table.hpp"
#include "model/properties.hpp"
#include "ports/consumer.hpp"

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace fuzz {

// A value of any type; its bytes may be wrong for it.
inline void add_header(retryd::model::TableWriter& table, Input& in) {
    const auto name = in.text();
    const auto type = static_cast<char>(in.number(1));
    const auto value = in.text();
    switch (type) {
        case 'S': return table.add_string(name, value);
        case 'x': return table.add_bytes(name, value);
        case 'F': return table.add_table(name, value);
        case 'A': return table.add_array(name, value);
        default: return table.add(name, {type, value});
    }
}

// Property bytes: some properties and a header table, or whatever bytes there are.
inline std::string property_bytes(Input& in) {
    const auto present = in.number(2);
    if (present == 0) return std::string(in.rest());
    retryd::model::Properties p;
    if (present & 1U) p.content_type = in.text();
    if (present & 2U) p.content_encoding = in.text();
    if (present & 4U) p.delivery_mode = static_cast<std::uint8_t>(in.number(1));
    if (present & 8U) p.priority = static_cast<std::uint8_t>(in.number(1));
    if (present & 16U) p.correlation_id = in.text();
    if (present & 32U) p.reply_to = in.text();
    if (present & 64U) p.expiration = in.text();
    if (present & 128U) p.message_id = in.text();
    if (present & 256U) p.timestamp = in.number(8);
    if (present & 512U) p.type = in.text();
    if (present & 1024U) p.user_id = in.text();
    if (present & 2048U) p.app_id = in.text();
    if (present & 4096U) p.cluster_id = in.text();
    retryd::model::TableWriter table;
    if (present & 8192U) {
        while (!in.empty()) add_header(table, in);
        p.headers = table.bytes();
    }
    return write_properties(p);
}

// A delivery of such a message, everything about it a stranger's choice.
inline retryd::ports::Delivery delivery(Input& in) {
    retryd::ports::Delivery delivery;
    delivery.exchange = in.text();
    delivery.routing_key = in.text();
    delivery.idempotency_key = in.text();
    delivery.last_error = in.text();
    delivery.attempt = static_cast<std::uint32_t>(in.number(2));
    delivery.max_attempts = static_cast<std::uint32_t>(in.number(2));
    delivery.redelivered = in.flag();
    if (in.flag()) delivery.first_failed = retryd::model::WallTime{retryd::model::Milliseconds{in.number(8) >> 1U}};
    delivery.deadline = retryd::model::WallTime{retryd::model::Milliseconds{in.number(6)}};
    auto message = std::make_shared<retryd::model::Message>();
    message->body = in.text();
    delivery.shown = property_bytes(in);
    message->properties = delivery.shown;
    delivery.message = std::move(message);
    return delivery;
}

struct OwnedHeader {
    std::string_view name;
    char type;
    std::string_view bytes;
    auto operator<=>(const OwnedHeader&) const = default;
};

// The broker keeps no order of headers, and we need none: two tables are the same when they hold the same entries, or, where
// nobody can read them, the same bytes.
inline bool same_table(std::string_view one, std::string_view other) {
    const auto a = retryd::model::read_table(one);
    const auto b = retryd::model::read_table(other);
    if (!a || !b) return one == other;
    const auto sorted = [](const std::vector<retryd::model::HeaderView>& headers) {
        std::vector<OwnedHeader> all;
        for (const auto& [name, value] : headers) all.push_back({name, value.type, value.bytes});
        std::sort(all.begin(), all.end());
        return all;
    };
    return sorted(*a) == sorted(*b);
}

inline bool same_original(std::string_view one, std::string_view other) {
    auto a = retryd::model::read_properties(one);
    auto b = retryd::model::read_properties(other);
    if (!a || !b || a->headers.has_value() != b->headers.has_value()) return false;
    if (!same_table(a->headers.value_or(""), b->headers.value_or(""))) return false;
    a->headers.reset();
    b->headers.reset();
    return *a == *b;
}

}  // namespace fuzz
