#include "model/ledger.hpp"
#include "model/ledger_names.hpp"
#include "model/original.hpp"

#include <charconv>
#include <chrono>

namespace retryd::model {
namespace {

using Headers = std::vector<HeaderView>;

// No honest header goes beyond these; what does counts as absent.
constexpr std::int64_t largest_count = 1'000'000;
constexpr Milliseconds longest_span = std::chrono::hours{24 * 366 * 10};

constexpr Milliseconds clock_skew = std::chrono::minutes{1};  // a producer's clock may be this far ahead

std::optional<std::int64_t> number(const Headers& headers, std::string_view name, std::int64_t largest) {
    const HeaderView* header = find_header(headers, name);
    const auto value = header == nullptr ? std::nullopt : integer(header->value);
    if (!value || *value < 0 || *value > largest) return std::nullopt;
    return value;
}

std::optional<std::uint32_t> count_if_there(const Headers& headers, std::string_view name) {
    const auto value = number(headers, name, largest_count);
    return value ? std::optional(static_cast<std::uint32_t>(*value)) : std::nullopt;
}

std::uint32_t count(const Headers& headers, std::string_view name) {
    return count_if_there(headers, name).value_or(0);
}

Milliseconds span(const Headers& headers, std::string_view name) {
    return Milliseconds{number(headers, name, longest_span.count()).value_or(0)};
}

std::optional<WallTime> time(const Headers& headers, std::string_view name, WallTime now) {
    const auto value = number(headers, name, (now + longest_span).time_since_epoch().count());
    return value ? std::optional(WallTime(Milliseconds(*value))) : std::nullopt;
}

std::optional<std::string_view> text(const Headers& headers, std::string_view name, std::size_t longest) {
    const HeaderView* header = find_header(headers, name);
    if (header == nullptr || header->value.type != 'S') return std::nullopt;
    const auto value = content(header->value);
    return value && value->size() <= longest ? value : std::nullopt;
}

std::string_view sized(const Headers& headers, std::string_view name, char type) {
    const HeaderView* header = find_header(headers, name);
    if (header == nullptr || header->value.type != type) return {};
    return content(header->value).value_or(std::string_view{});
}

Headers table_or_nothing(std::string_view bytes) {
    auto headers = read_table(bytes);
    return headers ? *std::move(headers) : Headers{};
}

Milliseconds last_wait(std::string_view history) {
    const auto entries = read_array(history);
    if (!entries || entries->empty() || entries->back().type != 'F') return Milliseconds{0};
    return span(table_or_nothing(content(entries->back()).value_or(std::string_view{})), names::entry_delay);
}

// What the original's `expiration` allows, from its own timestamp where that can be true, else from now.
std::optional<WallTime> own_expiry(const Properties& original, WallTime now) {
    if (!original.expiration) return std::nullopt;
    const std::string_view digits = *original.expiration;
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc{} || end != digits.data() + digits.size()) return std::nullopt;
    if (value < 0 || value > longest_span.count()) return std::nullopt;
    const Milliseconds life{value};

    constexpr std::uint64_t latest_second = 1'000'000'000'000;  // keeps the sum below from overflowing
    if (original.timestamp && *original.timestamp < latest_second) {
        const WallTime sent{std::chrono::seconds{*original.timestamp}};
        if (sent <= now + clock_skew && sent + life > now) return sent + life;
    }
    return now + life;
}

Ledger read_ledger(const Headers& headers, WallTime now) {
    Ledger ledger;
    ledger.attempts = count(headers, names::attempts);
    ledger.retries = count(headers, names::retries);
    ledger.lost = count(headers, names::lost);
    ledger.suspect = count_if_there(headers, names::suspect);
    ledger.first_failed = time(headers, names::first_failed, now);
    ledger.last_failed = time(headers, names::last_failed, now);
    ledger.not_before = time(headers, names::not_before, now);
    ledger.held = span(headers, names::held);
    ledger.expires = time(table_or_nothing(sized(headers, original_header, 'F')), expires_entry, now);
    ledger.last_wait = last_wait(sized(headers, names::history, 'A'));
    return ledger;
}

void read_lane_record(Record& record, const Properties& copy, const Headers& headers, WallTime now) {
    record.ledger = read_ledger(headers, now);
    if (const auto id = text(headers, names::id, names::longest_name); id && !id->empty()) record.id = *id;
    if (const auto exchange = text(headers, names::exchange, names::longest_name)) record.origin.exchange = *exchange;
    if (const auto key = text(headers, names::routing_key, names::longest_name)) record.origin.routing_key = *key;
    record.last_error = cut_text(sized(headers, names::error_type, 'S'), names::longest_word);
    record.history = sized(headers, names::history, 'A');
    record.shown = put_back(copy, headers);
}

}  // namespace

Result<Record> read_record(const Message& message, const Arrival& arrival, Side side, WallTime now) {
    const auto properties = read_properties(message.properties);
    if (!properties) return properties.error();
    const auto headers = read_table(properties->headers.value_or(std::string_view{}));

    Record record;
    record.id = properties->message_id.value_or(std::string_view{});
    record.origin = arrival;
    record.shown = message.properties;
    if (headers) {  // a table that cannot be read says nothing of us, and is shown as it is
        record.delivery_count = count(*headers, "x-delivery-count");
        if (side == Side::lane) read_lane_record(record, *properties, *headers, now);
    }
    if (!record.ledger.expires)
        record.ledger.expires = own_expiry(side == Side::lane ? read_properties(record.shown).value() : *properties, now);
    return record;
}

}  // namespace retryd::model
