// The record that a message carries: whatever stands in its headers, the counts that we take from it are sane, and what we
// write we read back.

#include "fuzz/input.hpp"
#include "fuzz/messages.hpp"
#include "model/ledger.hpp"
#include "model/utf8.hpp"

#include <chrono>

using namespace retryd;
using fuzz::require;

namespace {

const model::WallTime now{std::chrono::milliseconds{1'700'000'000'000}};
constexpr auto far = std::chrono::hours{24 * 366 * 10};

bool is_sane(const std::optional<model::WallTime>& time) {
    return !time || (time->time_since_epoch().count() >= 0 && *time <= now + far);
}

void check(const model::Record& record) {
    const auto& ledger = record.ledger;
    require(ledger.attempts <= 1'000'000 && ledger.retries <= 1'000'000 && ledger.lost <= 1'000'000, "counts are in range");
    require(ledger.suspect.value_or(0) <= 1'000'000 && record.delivery_count <= 1'000'000, "so is evidence");
    require(ledger.held.count() >= 0 && ledger.held <= far && ledger.last_wait.count() >= 0 && ledger.last_wait <= far,
            "spans are in range");
    require(is_sane(ledger.first_failed) && is_sane(ledger.last_failed) && is_sane(ledger.not_before), "times are in range");
    require(!ledger.expires || *ledger.expires <= now + 2 * far, "so is the expiry");
    require(record.id.size() <= 255 && record.origin.exchange.size() <= 255 && record.origin.routing_key.size() <= 255,
            "names are short strings");
    require(record.last_error.size() <= 128, "the last error is cut");
    require(model::read_properties(record.shown).has_value(), "what the consumer is shown can be read");
}

model::LedgerEntry entry_for(const model::Record& record, fuzz::Input& in) {
    model::LedgerEntry entry;
    entry.ledger = record.ledger;
    entry.ledger.attempts = static_cast<std::uint32_t>(in.number(2));
    entry.ledger.retries = static_cast<std::uint32_t>(in.number(2));
    entry.ledger.held = std::chrono::milliseconds{in.number(4)};
    if (in.flag()) entry.ledger.suspect = static_cast<std::uint32_t>(in.number(1));
    if (in.flag()) entry.ledger.not_before = now + std::chrono::milliseconds{in.number(4)};
    if (in.flag()) entry.reason = model::Reason::exhausted;
    if (in.flag()) entry.outcome = model::Outcome::transient;
    entry.error_type = in.text();
    entry.error_message = in.text();
    for (int doubled = static_cast<int>(in.number(1)) % 8; doubled > 0; --doubled) entry.error_message += entry.error_message;
    entry.dependency = in.text();
    entry.app_version = in.text();
    entry.wait = entry.outcome ? std::chrono::milliseconds{in.number(4)} : model::Milliseconds{0};
    entry.at = now;
    return entry;
}

model::Record back_from_lane(const std::string& properties) {
    const auto record = model::read_record({properties, ""}, {"", "retryd.orders.lane", false}, model::Side::lane, now);
    require(record.has_value(), "a copy of ours can be read");
    check(*record);
    return *record;
}

void write_and_read(const model::Record& record, const model::LedgerEntry& entry) {
    model::QueuePolicy policy;
    policy.name.value = "orders";
    const auto copy = model::write_copy(record, entry, policy, "host-1", model::RecordSize::full);
    require(copy.size() <= record.shown.size() + 4096, "a record is under 4 KiB");
    const auto read = back_from_lane(copy);
    auto expected = entry.ledger;
    expected.last_wait = entry.outcome ? entry.wait : read.ledger.last_wait;
    require(read.ledger == expected, "the ledger is read back as it was written");
    require(record.id.empty() || read.id == record.id, "so is the id");
    require(read.origin.exchange == record.origin.exchange && read.origin.routing_key == record.origin.routing_key,
            "so is where the message came from");
    require(fuzz::same_original(read.shown, record.shown), "and the message itself");

    const auto cut = model::write_copy(record, entry, policy, "host-1", model::RecordSize::reason);
    require(fuzz::same_original(back_from_lane(cut).shown, record.shown), "a cut record keeps the message whole");
    back_from_lane(model::write_copy(record, entry, policy, "host-1", model::RecordSize::none));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::Input in(data, size);
    const auto side = in.flag() ? model::Side::lane : model::Side::work;
    const model::LedgerEntry blank = entry_for({}, in);
    const auto properties = property_bytes(in);
    const auto record = model::read_record({properties, ""}, {"ex", "key", in.flag()}, side, now);
    require(record.has_value() == model::read_properties(properties).has_value(), "only unreadable properties fail");
    if (!record) return 0;
    check(*record);
    auto entry = blank;
    entry.ledger.lost = record->ledger.lost;
    entry.ledger.first_failed = record->ledger.first_failed;
    entry.ledger.last_failed = record->ledger.last_failed;
    entry.ledger.expires = record->ledger.expires;
    write_and_read(*record, entry);
    return 0;
}
