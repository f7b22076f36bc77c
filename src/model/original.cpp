#include "model/original.hpp"

#include <algorithm>
#include <limits>

namespace retryd::model {
namespace {

constexpr std::uint8_t persistent = 2;
constexpr std::size_t longest_short_string = 255;

constexpr std::string_view user_id_entry = "user-id";
constexpr std::string_view expiration_entry = "expiration";
constexpr std::string_view reply_to_entry = "reply-to";
constexpr std::string_view delivery_mode_entry = "delivery-mode";
constexpr std::string_view headers_entry = "headers";

// The broker rewrites and checks this name: it belongs to the channel of whoever asked.
bool is_pseudo_queue(std::string_view reply_to) {
    return reply_to.starts_with("amq.rabbitmq.reply-to");
}

// Sender-selected routing: a copy would be routed there a second time.
bool routes_copies(std::string_view name) {
    return name == "CC" || name == "BCC";
}

bool is_unsafe(std::string_view name) {
    return routes_copies(name) || is_death_header(name);
}

bool must_move(std::string_view name) {
    return is_unsafe(name) || name.starts_with(own_prefix);
}

Properties safe_properties(Properties properties) {
    properties.headers.reset();
    properties.user_id.reset();
    properties.expiration.reset();
    properties.delivery_mode = persistent;
    if (properties.reply_to && is_pseudo_queue(*properties.reply_to)) properties.reply_to.reset();
    return properties;
}

void divide_headers(std::string_view table, TableWriter& in_place, TableWriter& set_aside) {
    const auto headers = read_table(table);
    if (!headers) return set_aside.add_bytes(headers_entry, table);
    set_aside.add(headers_entry, {'t', std::string_view("\1", 1)});
    for (const HeaderView& header : *headers) (must_move(header.name) ? set_aside : in_place).add(header.name, header.value);
}

std::optional<std::string_view> short_string(const std::vector<HeaderView>& headers, std::string_view name) {
    const HeaderView* header = find_header(headers, name);
    if (header == nullptr || header->value.type != 'S') return std::nullopt;
    const auto text = content(header->value);
    return text && text->size() <= longest_short_string ? text : std::nullopt;
}

std::optional<std::uint8_t> octet(const std::vector<HeaderView>& headers, std::string_view name) {
    const HeaderView* header = find_header(headers, name);
    const auto value = header == nullptr ? std::nullopt : integer(header->value);
    if (!value || *value < 0 || *value > std::numeric_limits<std::uint8_t>::max()) return std::nullopt;
    return static_cast<std::uint8_t>(*value);
}

// What stands on a copy without being ours or the broker's.
std::string own_headers(const std::vector<HeaderView>& headers) {
    TableWriter kept;
    for (const HeaderView& header : headers) {
        if (!header.name.starts_with(own_prefix) && !is_death_header(header.name)) kept.add(header.name, header.value);
    }
    return kept.take();
}

// The original's table; nothing where it had none.
std::optional<std::string> restored_headers(std::string in_place, const std::vector<HeaderView>& noted) {
    const HeaderView* table = find_header(noted, headers_entry);
    if (table == nullptr) return std::nullopt;
    if (table->value.type == 'x') return std::string(content(table->value).value_or(std::string_view{}));
    TableWriter moved;
    for (const HeaderView& entry : noted) {
        if (must_move(entry.name)) moved.add(entry.name, entry.value);
    }
    return std::move(in_place) + moved.bytes();
}

std::optional<std::vector<HeaderView>> noted_entries(const std::vector<HeaderView>& headers) {
    const HeaderView* header = find_header(headers, original_header);
    if (header == nullptr || header->value.type != 'F') return std::nullopt;
    const auto entries = read_table(content(header->value).value_or(std::string_view{}));
    if (!entries) return std::nullopt;
    return *entries;
}

}  // namespace

bool is_death_header(std::string_view name) {
    return name == "x-death" || name.starts_with("x-first-death-") || name.starts_with("x-last-death-") ||
           name.starts_with("x-opt-death") || name == "x-delivery-count" || name == "x-acquired-count";
}

Parted set_aside(const Properties& original, std::optional<WallTime> expires) {
    TableWriter in_place;
    TableWriter noted;
    const Properties kept = safe_properties(original);
    if (original.user_id) noted.add_string(user_id_entry, *original.user_id);
    if (original.expiration) noted.add_string(expiration_entry, *original.expiration);
    if (original.reply_to && !kept.reply_to) noted.add_string(reply_to_entry, *original.reply_to);
    if (original.delivery_mode) noted.add_long(delivery_mode_entry, *original.delivery_mode);
    if (expires) noted.add_long(expires_entry, expires->time_since_epoch().count());
    if (original.headers) divide_headers(*original.headers, in_place, noted);
    return {kept, in_place.take(), noted.take()};
}

std::string without_record(const Properties& original) {
    Properties kept = safe_properties(original);
    TableWriter in_place;
    const auto headers = read_table(original.headers.value_or(std::string_view{}));
    if (headers) {
        for (const HeaderView& header : *headers) {
            if (!is_unsafe(header.name)) in_place.add(header.name, header.value);
        }
    } else {  // the broker could not read it either: carried as bytes
        TableWriter noted;
        noted.add_bytes(headers_entry, *original.headers);
        in_place.add_table(original_header, noted.bytes());
    }
    if (original.headers) kept.headers = in_place.bytes();
    return write_properties(kept);
}

std::string put_back(Properties copy, const std::vector<HeaderView>& headers) {
    const bool had_table = copy.headers.has_value();
    std::optional<std::string> table = own_headers(headers);
    if (const auto noted = noted_entries(headers)) {
        copy.user_id = short_string(*noted, user_id_entry);
        copy.expiration = short_string(*noted, expiration_entry);
        copy.delivery_mode = octet(*noted, delivery_mode_entry);
        if (const auto reply_to = short_string(*noted, reply_to_entry)) copy.reply_to = reply_to;
        table = restored_headers(*std::move(table), *noted);
    } else if (!had_table) {
        table.reset();
    }
    copy.headers.reset();
    if (table) copy.headers = *table;
    return write_properties(copy);
}

}  // namespace retryd::model
