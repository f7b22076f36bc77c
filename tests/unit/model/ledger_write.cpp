#include "unit/model/records.hpp"

#include <catch2/catch.hpp>

using namespace samples;
using namespace std::chrono_literals;

namespace {

// The size of what stands on a copy beside the original's own properties and headers.
std::size_t our_part(const Record& record, const std::string& copy) {
    return copy.size() - std::min(copy.size(), record.shown.size());
}

std::vector<std::vector<Header>> history_on(const std::string& copy) {
    const auto found = all_named(copy, "retryd-history");
    std::vector<std::vector<Header>> entries;
    if (found.empty()) return entries;
    const auto values = read_array(std::string_view(found[0].bytes).substr(4)).value();
    for (const FieldView& value : values) entries.push_back(headers_of(*content(value)));
    return entries;
}

Record plain() {
    Record record = from_work(write_properties({}));
    record.id = "id-1";
    return record;
}

std::string copy_with(const Record& record, const LedgerEntry& entry, std::uint32_t history = 10) {
    QueuePolicy policy = orders();
    policy.history = history;
    return write_copy(record, entry, policy, "host-1", RecordSize::full);
}

std::string text_on(const std::string& copy, std::string_view name) {
    const auto found = all_named(copy, name);
    return found.size() == 1 && found[0].type == 'S' ? found[0].bytes.substr(4) : "(none or several)";
}

}  // namespace

TEST_CASE("every count and time comes back from the lane as it was written") {
    LedgerEntry entry = failure(plain());
    entry.ledger = {7, 3, 2, 1, noon - 5s, noon - 1s, noon + 10s, 90s, noon + 1h, 0s};
    entry.wait = 800ms;
    Ledger expected = entry.ledger;
    expected.last_wait = 800ms;
    CHECK(from_lane(after_ttl_hop(copy_with(plain(), entry))).ledger == expected);

    entry.ledger = {};
    entry.wait = 0ms;
    CHECK(from_lane(after_ttl_hop(copy_with(plain(), entry))).ledger == Ledger{});
}

TEST_CASE("a copy carries the headers that tools are promised, with these types") {
    LedgerEntry entry = failure(plain());
    entry.ledger.held = 90s;
    entry.ledger.lost = 1;
    entry.ledger.suspect = 0;
    entry.ledger.not_before = noon + 10s;
    entry.reason = Reason::exhausted;
    entry.dependency = "db";
    entry.app_version = "1.2";
    const std::string copy = copy_with(plain(), entry);
    const std::vector<Header> expected{
        text("retryd-app-version", "1.2"),
        number("retryd-attempts", 1),
        text("retryd-dependency", "db"),
        text("retryd-error-message", "no answer in 30 s"),
        text("retryd-error-type", "DbTimeout"),
        text("retryd-exchange", "ex"),
        text("retryd-fingerprint", fingerprint("DbTimeout", "no answer in 30 s")),
        number("retryd-first-failed-ms", 1'700'000'000'000),
        number("retryd-held-ms", 90'000),
        text("retryd-id", "id-1"),
        number("retryd-last-failed-ms", 1'700'000'000'000),
        number("retryd-lost", 1),
        number("retryd-not-before-ms", 1'700'000'010'000),
        text("retryd-queue", "orders"),
        text("retryd-reason", "exhausted"),
        number("retryd-retries", 1),
        text("retryd-routing-key", "orange"),
        number("retryd-suspect", 0),
        number("retryd-v", 1),
    };
    auto headers = sorted_headers(copy);
    std::erase_if(headers, [](const Header& h) { return h.name == "retryd-history" || h.name == "retryd-original"; });
    CHECK(headers == expected);
    CHECK(all_named(copy, "retryd-history").size() == 1);
    CHECK(all_named(copy, "retryd-original").size() == 1);
}

TEST_CASE("what was never so is not written") {
    LedgerEntry entry;
    entry.at = noon;
    const std::string copy = copy_with(plain(), entry);
    for (const char* name : {"retryd-reason", "retryd-lost", "retryd-first-failed-ms", "retryd-last-failed-ms",
                             "retryd-not-before-ms", "retryd-held-ms", "retryd-error-type", "retryd-error-message",
                             "retryd-dependency", "retryd-app-version", "retryd-fingerprint"}) {
        INFO(name);
        CHECK(all_named(copy, name).empty());
    }
}

TEST_CASE("the headers do not pile up: each stands once however often the message came back") {
    Record record = plain();
    std::vector<std::string> names;
    for (int i = 0; i < 5; ++i) {
        const std::string copy = copy_of(record);
        if (i == 0) names = header_names(copy);
        CHECK(header_names(copy) == names);
        CHECK(std::adjacent_find(names.begin(), names.end()) == names.end());
        record = from_lane(after_ttl_hop(copy));
    }
    CHECK(record.ledger.attempts == 5);
}

TEST_CASE("the history keeps the newest entries, oldest first") {
    Record record = plain();
    std::string copy;
    for (int i = 1; i <= 5; ++i) {
        LedgerEntry entry = failure(record);
        entry.wait = std::chrono::seconds{i};
        copy = copy_with(record, entry, 3);
        record = from_lane(after_ttl_hop(copy));
    }
    const auto entries = history_on(copy);
    REQUIRE(entries.size() == 3);
    for (std::size_t i = 0; i < 3; ++i) {
        CHECK(entries[i] ==
              std::vector<Header>{number("at-ms", 1'700'000'000'000), text("outcome", "transient"), text("type", "DbTimeout"),
                                  text("fingerprint", fingerprint("DbTimeout", "no answer in 30 s")),
                                  number("delay-ms", static_cast<std::int64_t>(i + 3) * 1000), text("host", "host-1")});
    }
}

TEST_CASE("a history of none is no header") {
    CHECK(all_named(copy_with(once_round(plain()), failure(plain()), 0), "retryd-history").empty());
}

TEST_CASE("entries of the history that are no tables are dropped, a history that is none is begun anew") {
    Record record = plain();
    record.history = "S" + sized("junk");
    CHECK(history_on(copy_of(record)).size() == 1);
    record.history = "?";
    CHECK(history_on(copy_of(record)).size() == 1);
}

TEST_CASE("a hold that no delivery led to keeps the last error's type and adds nothing to the history") {
    const Record failed = once_round(plain());
    LedgerEntry hold;
    hold.ledger = failed.ledger;
    hold.at = noon;
    const std::string copy = copy_with(failed, hold);
    CHECK(text_on(copy, "retryd-error-type") == "DbTimeout");
    CHECK(from_lane(copy).last_error == "DbTimeout");
    CHECK(history_on(copy).size() == 1);
}

TEST_CASE("an error page of any length and bytes is kept as a line and cut") {
    LedgerEntry entry = failure(plain());
    entry.error_message = "<html>\r\n" + std::string(1, '\0') + "\xff" + std::string(100'000, 'x');
    const std::string message = text_on(copy_with(plain(), entry), "retryd-error-message");
    CHECK(message.size() == 1024);
    CHECK(message.substr(0, 11) == "<html>" + std::string(4, '?') + "x");
}

TEST_CASE("the error message gives way to the history, and the oldest history to the limit") {
    Record record = plain();
    for (int i = 0; i < 30; ++i) {
        LedgerEntry entry = failure(record);
        entry.error_message = std::string(5000, 'm');
        const std::string copy = copy_with(record, entry, 20);
        CHECK(our_part(record, copy) <= 4096);
        CHECK(text_on(copy, "retryd-error-message").size() >= 128);
        CHECK(history_on(copy).back().size() == 6);
        record = from_lane(after_ttl_hop(copy));
    }
    CHECK(history_on(copy_of(record)).size() == 10);
}

TEST_CASE("our part stays under 4 KiB whatever is said and whatever has happened") {
    Chance chance(9);
    for (int i = 0; i < 40; ++i) {
        Record record = plain();
        record.id = chance.bytes(255);
        record.origin = {chance.bytes(255), chance.bytes(255), false};
        for (int hop = 0; hop < 8; ++hop) {
            LedgerEntry entry = failure(record);
            entry.ledger = {9, 9, 9, 9, noon, noon, noon, 1s, noon, 0s};
            entry.reason = Reason::permanent;
            entry.error_type = chance.bytes(2000);
            entry.error_message = chance.bytes(5000);
            entry.dependency = chance.bytes(2000);
            entry.app_version = chance.bytes(2000);
            QueuePolicy policy = orders();
            policy.name.value = std::string(255, 'q');
            policy.history = 50;
            const std::string copy = write_copy(record, entry, policy, std::string(1000, 'h'), RecordSize::full);
            REQUIRE(our_part(record, copy) <= 4096);
            REQUIRE_FALSE(history_on(copy).empty());
            record = from_lane(after_ttl_hop(copy));
        }
    }
}

TEST_CASE("a copy with the record cut to the reason keeps what had to be set aside") {
    Properties p;
    p.user_id = "alice";
    const std::string bytes = table({{"CC", 'A', sized("")}, text("mine", "kept")});
    p.headers = bytes;
    Record record = from_work(write_properties(p));
    record.id = "id-1";
    LedgerEntry entry = failure(record);
    entry.reason = Reason::exhausted;
    const std::string copy = write_copy(record, entry, orders(), "host-1", RecordSize::reason);
    CHECK(header_names(copy) == std::vector<std::string>{"mine", "retryd-id", "retryd-original", "retryd-reason", "retryd-v"});
    CHECK(same_original(from_lane(copy).shown, record.shown));
}

TEST_CASE("a copy without a record is the original without what must not stand on a copy") {
    Properties p;
    p.user_id = "alice";
    p.expiration = "5";
    p.reply_to = "amq.rabbitmq.reply-to.x";
    p.type = "t";
    p.delivery_mode = 1;
    const std::string bytes =
        table({{"CC", 'A', sized("")}, text("mine", "kept"), text("retryd-theirs", "kept"), number("x-delivery-count", 1)});
    p.headers = bytes;
    Properties expected;
    expected.type = "t";
    expected.delivery_mode = 2;
    const std::string kept = table({text("mine", "kept"), text("retryd-theirs", "kept")});
    expected.headers = kept;
    CHECK(copy_of(from_work(write_properties(p)), RecordSize::none) == write_properties(expected));
    CHECK(copy_of(from_work(write_properties({})), RecordSize::none) == std::string("\x10\0\x02", 3));
}
