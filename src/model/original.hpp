#pragma once
// What a copy cannot carry in its own place, moved into one table header `retryd-original` and put back on return.
//
// Its entries: `user-id`, `expiration`, `reply-to`, `delivery-mode`, each only where the original had it; the headers that
// were moved, under their own names (CC, BCC, x-death and its kin, foreign retryd-*: none of them is called like a
// property); `expires-ms`, the end of the message's own life; `headers`, there only where the original had a header table:
// true, or the whole table as a byte string where it cannot be read.

#include "model/header_table.hpp"
#include "model/properties.hpp"
#include "model/time.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace retryd::model {

inline constexpr std::string_view own_prefix = "retryd-";
inline constexpr std::string_view original_header = "retryd-original";
inline constexpr std::string_view expires_entry = "expires-ms";

// x-death and its kin: written by the broker, about one stay in one queue.
[[nodiscard]] bool is_death_header(std::string_view name);

// An original, divided. The views of `kept` point where the original's do.
struct Parted {
    Properties kept;        // what may stand on a copy, persistent; without headers
    std::string headers;    // the table of those that stay in place
    std::string set_aside;  // the content of `retryd-original`
};
[[nodiscard]] Parted set_aside(const Properties& original, std::optional<WallTime> expires);

// The same without a record: what must not stand on a copy is dropped, not moved.
[[nodiscard]] std::string without_record(const Properties& original);

// The property bytes of the original of a copy that came back. `headers` is the copy's own table.
[[nodiscard]] std::string put_back(Properties copy, const std::vector<HeaderView>& headers);

}  // namespace retryd::model
