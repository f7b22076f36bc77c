#pragma once
// What a message carries about its own life: the `retryd-*` headers. Read at the door, written on each copy.
//
// They are believed only on what arrives from the lane; on the work queue a `retryd-*` header is foreign payload: set
// aside in `retryd-original` and given back. What the consumer is shown is always the original.

#include "model/header_table.hpp"
#include "model/message.hpp"
#include "model/names.hpp"
#include "model/outcome.hpp"
#include "model/policy.hpp"
#include "model/properties.hpp"
#include "model/time.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace retryd::model {

// The numbers that decisions are made from. What was never written is zero or absent.
struct Ledger {
    std::uint32_t attempts = 0;            // failed attempts so far
    std::uint32_t retries = 0;             // delayed retries so far: the rung
    std::uint32_t lost = 0;                // losses shared with others, charged to nobody
    std::optional<std::uint32_t> suspect;  // trials alone so far, the one that this copy is made for included
    std::optional<WallTime> first_failed;
    std::optional<WallTime> last_failed;
    std::optional<WallTime> not_before;  // a Retry-After's end
    Milliseconds held{0};                // waiting that was not a retry, in all
    std::optional<WallTime> expires;     // the message's own expiry, a wall
    Milliseconds last_wait{0};           // the whole wait that the last copy was given; 0: unknown
    bool operator==(const Ledger&) const = default;
};

// All that is known of a message when it arrives. Owns its bytes.
struct Record {
    Ledger ledger;
    std::string id;          // retryd-id: the idempotency key (message-id, else a random one); empty: not given yet
    Arrival origin;          // the original exchange and routing key; redelivered as the broker said just now
    std::string last_error;  // the last error's type, for Retryd-Last-Error
    std::string history;     // retryd-history's array content as read, raw
    std::string shown;       // the original's property bytes: what the consumer is shown and a redriven copy gets back
    std::uint32_t delivery_count = 0;  // x-delivery-count: evidence only
};

// Reads what arrived. From the work queue the ledger starts empty; from the lane a header of the wrong type or range
// counts as absent. `now` dates an expiry whose timestamp is absent or not sane (in the future by more than a minute, or
// so old that the message would be dead already although the broker has just delivered it alive).
// Fails only on property bytes that cannot be read at all.
[[nodiscard]] Result<Record> read_record(const Message& message, const Arrival& arrival, Side side, WallTime now);

// What one decision adds to the record.
struct LedgerEntry {
    Ledger ledger;                   // the new counts, complete
    std::optional<Reason> reason;    // for parked and dead-lettered copies
    std::optional<Outcome> outcome;  // of the delivery that led to it; nothing: none did, and the history does not grow
    std::string error_type, error_message, dependency, app_version;  // cut here, not by the caller
    Milliseconds wait{0};                                            // the delay given; 0: none
    WallTime at;
};

// How much of the record a copy may carry.
enum class RecordSize : std::uint8_t {
    full,    // everything, our part under 4 KiB
    reason,  // retryd-v, retryd-id, retryd-reason and what had to be set aside; the rest of the original in place
    none,    // the original alone, without what must not stand on a copy: what does not fit otherwise
};

// The property bytes of a copy: the original's with what must be set aside moved into `retryd-original`, delivery-mode 2,
// no expiration, our headers. `host` names this daemon in the history.
[[nodiscard]] std::string write_copy(const Record& record, const LedgerEntry& entry, const QueuePolicy& policy,
                                     std::string_view host, RecordSize size);

// The type, and the message with numbers, ids and quoted text normalised, hashed: equal failures have equal fingerprints.
[[nodiscard]] std::string fingerprint(std::string_view error_type, std::string_view error_message);

// `text` cut to at most `limit` bytes, at a UTF-8 boundary; bytes that are not UTF-8 and characters that are
// not shown (model/utf8.hpp: is_control) become '?'.
[[nodiscard]] std::string cut_text(std::string_view text, std::size_t limit);

}  // namespace retryd::model
