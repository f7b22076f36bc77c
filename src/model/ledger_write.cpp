#include "model/ledger.hpp"
#include "model/ledger_names.hpp"
#include "model/original.hpp"
#include "model/utf8.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <vector>

namespace retryd::model {
namespace {

constexpr std::int64_t record_version = 1;
constexpr std::size_t our_limit = 3840;        // of 4 KiB: the rest is for the names inside retryd-original
constexpr std::size_t longest_message = 1024;  // of an error message
constexpr std::size_t shortest_message = 128;  // to which it is cut before the history is
constexpr std::size_t longest_host = 64;
constexpr std::size_t usual_record = 1024;  // bytes: with a history of a few failures
constexpr std::size_t usual_entry = 192;

void add_text(TableWriter& headers, std::string_view name, std::string_view value, std::size_t limit) {
    if (value.empty()) return;
    if (value.size() <= limit && plain_length(value) == value.size()) return headers.add_string(name, value);
    headers.add_string(name, cut_text(value, limit));
}

void add_count(TableWriter& headers, std::string_view name, std::int64_t value) {
    if (value != 0) headers.add_long(name, value);
}

void add_time(TableWriter& headers, std::string_view name, const std::optional<WallTime>& time) {
    if (time) headers.add_long(name, time->time_since_epoch().count());
}

bool is_failure(const LedgerEntry& entry) {
    return !entry.error_type.empty() || !entry.error_message.empty();
}

// The headers that always come: what a copy cannot do without.
TableWriter essentials(const Record& record, const LedgerEntry& entry) {
    TableWriter headers(usual_record);
    headers.add_long(names::version, record_version);
    headers.add_string(names::id, record.id);
    if (entry.reason) headers.add_string(names::reason, to_text(*entry.reason));
    return headers;
}

void add_facts(TableWriter& headers, const Record& record, const LedgerEntry& entry, const QueuePolicy& policy,
               std::string_view fingerprint) {
    headers.add_string(names::queue, policy.name.value);
    headers.add_long(names::attempts, entry.ledger.attempts);
    headers.add_long(names::retries, entry.ledger.retries);
    add_count(headers, names::lost, entry.ledger.lost);
    if (entry.ledger.suspect) headers.add_long(names::suspect, *entry.ledger.suspect);
    add_time(headers, names::first_failed, entry.ledger.first_failed);
    add_time(headers, names::last_failed, entry.ledger.last_failed);
    add_time(headers, names::not_before, entry.ledger.not_before);
    add_count(headers, names::held, entry.ledger.held.count());
    headers.add_string(names::exchange, record.origin.exchange);
    headers.add_string(names::routing_key, record.origin.routing_key);
    // A hold without an error of its own does not make the last one forgotten.
    add_text(headers, names::error_type, is_failure(entry) ? entry.error_type : record.last_error, names::longest_word);
    add_text(headers, names::dependency, entry.dependency, names::longest_word);
    add_text(headers, names::app_version, entry.app_version, names::longest_word);
    if (!fingerprint.empty()) headers.add_string(names::fingerprint, fingerprint);
}

std::string history_entry(const LedgerEntry& entry, std::string_view host, std::string_view fingerprint) {
    TableWriter table(usual_entry);
    table.add_long(names::entry_at, entry.at.time_since_epoch().count());
    table.add_string(names::entry_outcome, to_text(*entry.outcome));
    add_text(table, names::entry_type, entry.error_type, names::longest_word);
    if (!fingerprint.empty()) table.add_string(names::entry_fingerprint, fingerprint);
    add_count(table, names::entry_delay, entry.wait.count());
    add_text(table, names::entry_host, host, longest_host);
    return table.take();
}

// The newest entries, oldest first, the new one last where there is one. The views point into `record` and `newest`.
std::vector<std::string_view> history_of(const Record& record, std::string_view newest, std::size_t limit) {
    std::vector<std::string_view> entries;
    if (const auto earlier = read_array(record.history)) {
        for (const FieldView& field : *earlier) {
            if (field.type == 'F') entries.push_back(*content(field));
        }
    }
    if (!newest.empty()) entries.push_back(newest);
    if (entries.size() > limit) entries.erase(entries.begin(), entries.end() - static_cast<std::ptrdiff_t>(limit));
    return entries;
}

// Drops the oldest entries until the array of the rest has at most `limit` bytes.
std::string newest_that_fit(const std::vector<std::string_view>& entries, std::size_t limit) {
    constexpr std::size_t overhead = 5;  // type letter and length of each
    std::size_t size = 0;
    auto first = entries.end();
    while (first != entries.begin() && size + std::prev(first)->size() + overhead <= limit) {
        --first;
        size += first->size() + overhead;
    }
    std::string array;
    array.reserve(size);
    std::for_each(first, entries.end(), [&](std::string_view table) { append_table_value(array, table); });
    return array;
}

// The message and the history grow without limit; they get what the facts leave, the message first giving way.
void add_what_fits(TableWriter& headers, const Record& record, const LedgerEntry& entry, std::size_t history_limit,
                   std::string_view newest) {
    constexpr std::size_t name_room = 64;  // what the two headers need beside their values
    const std::size_t taken = headers.bytes().size() + name_room;
    const std::size_t room = our_limit > taken ? our_limit - taken : 0;

    const std::vector<std::string_view> entries = history_of(record, newest, history_limit);
    std::string whole_history = newest_that_fit(entries, room);
    const std::size_t left = std::max(shortest_message, room - whole_history.size());
    const std::string message = cut_text(entry.error_message, std::min(left, longest_message));
    if (!message.empty()) headers.add_string(names::error_message, message);
    const std::string history =
        message.empty() ? std::move(whole_history) : newest_that_fit(entries, room - std::min(room, message.size()));
    if (!history.empty()) headers.add_array(names::history, history);
}

}  // namespace

std::string write_copy(const Record& record, const LedgerEntry& entry, const QueuePolicy& policy, std::string_view host,
                       RecordSize size) {
    const Properties original = read_properties(record.shown).value();
    if (size == RecordSize::none) return without_record(original);

    TableWriter ours = essentials(record, entry);
    if (size == RecordSize::full) {
        const std::string print = is_failure(entry) ? fingerprint(entry.error_type, entry.error_message) : std::string{};
        add_facts(ours, record, entry, policy, print);
        const std::string newest = entry.outcome ? history_entry(entry, host, print) : std::string{};
        add_what_fits(ours, record, entry, policy.history, newest);
    }
    Parted parted = set_aside(original, entry.ledger.expires);
    ours.add_table(original_header, parted.set_aside);
    std::string headers = std::move(parted.headers);
    headers += ours.bytes();
    Properties copy = parted.kept;
    copy.headers = headers;
    return write_properties(copy);
}

}  // namespace retryd::model
