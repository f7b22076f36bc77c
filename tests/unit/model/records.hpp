#pragma once
// One message's way through retryd for the tests of its record: from the work queue into a copy, over the TTL hop, back
// from the lane.

#include "model/ledger.hpp"
#include "unit/model/samples.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace samples {

using namespace retryd::model;  // NOLINT: for tests of this room alone

inline const WallTime noon{std::chrono::milliseconds{1'700'000'000'000}};

inline QueuePolicy orders() {
    QueuePolicy policy;
    policy.name = {"orders"};
    policy.lane = {"retryd.orders.lane"};
    return policy;
}

inline Message message(const std::string& properties) {
    return {properties, "body"};
}

inline Record from_work(const std::string& properties, WallTime now = noon) {
    return read_record(message(properties), {"ex", "orange", false}, Side::work, now).value();
}

inline Record from_lane(const std::string& properties, WallTime now = noon) {
    return read_record(message(properties), {"", "retryd.orders.lane", false}, Side::lane, now).value();
}

inline std::string with_headers(const std::vector<Header>& headers) {
    Properties p;
    const std::string bytes = table(headers);
    p.headers = bytes;
    return write_properties(p);
}

// A failure as the engine notes it, due again in a second.
inline LedgerEntry failure(const Record& record) {
    LedgerEntry entry;
    entry.ledger = record.ledger;
    ++entry.ledger.attempts;
    ++entry.ledger.retries;
    entry.ledger.first_failed = record.ledger.first_failed.value_or(noon);
    entry.ledger.last_failed = noon;
    entry.outcome = Outcome::transient;
    entry.error_type = "DbTimeout";
    entry.error_message = "no answer in 30 s";
    entry.wait = std::chrono::seconds{1};
    entry.at = noon;
    return entry;
}

inline std::string copy_of(const Record& record, RecordSize size = RecordSize::full) {
    return write_copy(record, failure(record), orders(), "host-1", size);
}

// What the broker does to a message that expires in a tier: it sorts the headers and adds its own.
inline std::string after_ttl_hop(const std::string& properties) {
    Properties p = read_properties(properties).value();
    std::vector<Header> headers = headers_of(p.headers.value_or(std::string_view{}));
    headers.push_back({"x-death", 'A', sized("F" + sized(table({number("count", 1), text("reason", "expired")})))});
    headers.push_back(text("x-first-death-reason", "expired"));
    headers.push_back(text("x-last-death-queue", "retryd.orders.delay.1000ms"));
    headers.push_back(number("x-delivery-count", 0));
    std::stable_sort(headers.begin(), headers.end(), [](const Header& a, const Header& b) { return a.name < b.name; });
    const std::string bytes = table(headers);
    p.headers = bytes;
    return write_properties(p);
}

inline Record once_round(const Record& record) {
    return from_lane(after_ttl_hop(copy_of(record)));
}

inline std::vector<Header> sorted_headers(std::string_view properties) {
    std::vector<Header> headers = headers_of(read_properties(properties).value().headers.value_or(std::string_view{}));
    std::stable_sort(headers.begin(), headers.end(), [](const Header& a, const Header& b) { return a.name < b.name; });
    return headers;
}

// Equal in all but the order of the headers, which the broker does not keep.
inline bool same_original(const std::string& one, const std::string& other) {
    if (one == other) return true;
    Properties a = read_properties(one).value();
    Properties b = read_properties(other).value();
    if (a.headers.has_value() != b.headers.has_value()) return false;
    a.headers.reset();
    b.headers.reset();
    return a == b && sorted_headers(one) == sorted_headers(other);
}

inline std::vector<std::string> header_names(std::string_view properties) {
    std::vector<std::string> names;
    for (const Header& header : sorted_headers(properties)) names.push_back(header.name);
    return names;
}

// The headers of that name on a copy.
inline std::vector<Header> all_named(std::string_view properties, std::string_view name) {
    std::vector<Header> found;
    for (const Header& header : sorted_headers(properties)) {
        if (header.name == name) found.push_back(header);
    }
    return found;
}

}  // namespace samples
