#include "unit/model/records.hpp"

#include <catch2/catch.hpp>

#include <limits>

using namespace samples;
using namespace std::chrono_literals;

namespace {

constexpr std::int64_t noon_ms = 1'700'000'000'000;

std::string expiring(const char* expiration, std::optional<std::uint64_t> timestamp = std::nullopt) {
    Properties p;
    p.expiration = expiration;
    p.timestamp = timestamp;
    return write_properties(p);
}

Header history(const std::vector<std::vector<Header>>& entries) {
    std::string array;
    for (const auto& entry : entries) append_table_value(array, table(entry));
    return {"retryd-history", 'A', sized(array)};
}

}  // namespace

TEST_CASE("a message from the work queue begins at nothing, whatever its headers claim") {
    const Record record = from_work(with_headers({number("retryd-attempts", 5), number("retryd-retries", 5),
                                                  text("retryd-id", "x"), text("retryd-exchange", "forged"),
                                                  text("retryd-error-type", "E"), history({{number("delay-ms", 1000)}})}));
    CHECK(record.ledger == Ledger{});
    CHECK(record.id.empty());
    CHECK(record.last_error.empty());
    CHECK(record.history.empty());
    CHECK(record.origin.exchange == "ex");
    CHECK(record.origin.routing_key == "orange");
}

TEST_CASE("a message without a header table has no attempts") {
    CHECK(from_work(write_properties({})).ledger.attempts == 0);
    CHECK(from_lane(write_properties({})).ledger.attempts == 0);
}

TEST_CASE("the broker's delivery count is evidence and never an attempt, absent, zero or forged") {
    for (const std::uint32_t count : {0U, 77U}) {
        const Record record = from_work(with_headers({number("x-delivery-count", count)}));
        CHECK(record.delivery_count == count);
        CHECK(record.ledger.attempts == 0);
    }
    CHECK(from_work(write_properties({})).delivery_count == 0);
    CHECK(from_work(with_headers({number("x-delivery-count", -1)})).delivery_count == 0);
    CHECK(from_lane(with_headers({number("x-delivery-count", 3)})).delivery_count == 3);
}

TEST_CASE("the idempotency key is the message-id, and on the lane the one that was given first") {
    Properties p;
    CHECK(from_work(write_properties(p)).id.empty());
    p.message_id = "";
    CHECK(from_work(write_properties(p)).id.empty());
    p.message_id = "m-1";
    CHECK(from_work(write_properties(p)).id == "m-1");
    const std::string given = table({text("retryd-id", "random-1")});
    p.headers = given;
    CHECK(from_lane(write_properties(p)).id == "random-1");
    const std::string empty = table({text("retryd-id", "")});
    p.headers = empty;
    CHECK(from_lane(write_properties(p)).id == "m-1");
}

TEST_CASE("exchange and key of the first arrival stay those of the origin on the way through the lane") {
    Record record = from_work(write_properties({}));
    for (int i = 0; i < 3; ++i) record = once_round(record);
    CHECK(record.origin.exchange == "ex");
    CHECK(record.origin.routing_key == "orange");
    CHECK(read_record(message(write_properties({})), {"", "lane", true}, Side::lane, noon).value().origin.redelivered);
}

TEST_CASE("the default exchange of the origin is not taken for an absent one") {
    const Record record = from_lane(with_headers({text("retryd-exchange", ""), text("retryd-routing-key", "")}));
    CHECK(record.origin.exchange.empty());
    CHECK(record.origin.routing_key.empty());
}

TEST_CASE("counts on the lane are believed where they can be true") {
    struct Row {
        Header header;
        std::uint32_t attempts;
    };
    const Row rows[] = {
        {number("retryd-attempts", 3), 3},
        {{"retryd-attempts", 'B', "\x03"}, 3},
        {{"retryd-attempts", 'I', big_endian(3, 4)}, 3},
        {number("retryd-attempts", 1'000'000), 1'000'000},
        {number("retryd-attempts", 1'000'001), 0},
        {number("retryd-attempts", -1), 0},
        {number("retryd-attempts", std::numeric_limits<std::int64_t>::max()), 0},
        {{"retryd-attempts", 'L', big_endian(~std::uint64_t{0}, 8)}, 0},
        {text("retryd-attempts", "3"), 0},
        {{"retryd-attempts", 'V', ""}, 0},
        {{"retryd-attempts", 'd', big_endian(0x4008000000000000, 8)}, 0},
    };
    for (const Row& row : rows) {
        INFO(row.header.type << " " << row.attempts);
        CHECK(from_lane(with_headers({row.header})).ledger.attempts == row.attempts);
    }
}

TEST_CASE("times on the lane are believed where they can be true") {
    for (const std::int64_t bad :
         {std::int64_t{-1}, std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::min(),
          noon_ms + std::chrono::milliseconds(24h * 366 * 11).count()}) {
        INFO(bad);
        const Ledger ledger = from_lane(with_headers({number("retryd-first-failed-ms", bad),
                                                      number("retryd-last-failed-ms", bad),
                                                      number("retryd-not-before-ms", bad),
                                                      {"retryd-original", 'F', sized(table({number("expires-ms", bad)}))}}))
                                  .ledger;
        CHECK(ledger == Ledger{});
    }
    const Ledger ledger =
        from_lane(with_headers({number("retryd-first-failed-ms", noon_ms - 5), number("retryd-last-failed-ms", noon_ms - 4),
                                number("retryd-not-before-ms", noon_ms + 3)}))
            .ledger;
    CHECK(ledger.first_failed == noon - 5ms);
    CHECK(ledger.last_failed == noon - 4ms);
    CHECK(ledger.not_before == noon + 3ms);
}

TEST_CASE("held time of the wrong sign, size or type is none") {
    CHECK(from_lane(with_headers({number("retryd-held-ms", 1500)})).ledger.held == 1500ms);
    CHECK(from_lane(with_headers({number("retryd-held-ms", -1500)})).ledger.held == 0ms);
    CHECK(from_lane(with_headers({number("retryd-held-ms", std::numeric_limits<std::int64_t>::max())})).ledger.held == 0ms);
    CHECK(from_lane(with_headers({text("retryd-held-ms", "1500")})).ledger.held == 0ms);
}

TEST_CASE("the whole wait of the last copy is that of the newest entry of the history") {
    struct Row {
        Header header;
        Milliseconds wait;
    };
    const Row rows[] = {
        {history({{number("delay-ms", 1000)}, {number("delay-ms", 2000)}}), 2s},
        {history({{number("delay-ms", 1000)}, {text("outcome", "lost")}}), 0s},
        {history({{number("delay-ms", -1)}}), 0s},
        {history({{text("delay-ms", "5")}}), 0s},
        {history({}), 0s},
        {{"retryd-history", 'A', sized("S" + sized("x"))}, 0s},
        {{"retryd-history", 'A', sized("?")}, 0s},
        {{"retryd-history", 'F', sized("")}, 0s},
        {text("retryd-history", "x"), 0s},
    };
    for (const Row& row : rows) CHECK(from_lane(with_headers({row.header})).ledger.last_wait == row.wait);
}

TEST_CASE("the message's own expiry counts from its timestamp where that can be true, else from now") {
    constexpr std::uint64_t noon_s = noon_ms / 1000;
    struct Row {
        const char* expiration;
        std::optional<std::uint64_t> timestamp;
        std::optional<WallTime> expires;
    };
    const Row rows[] = {
        {"60000", std::nullopt, noon + 60s},
        {"60000", noon_s - 10, noon + 50s},
        {"60000", noon_s + 30, noon + 90s},  // a clock a little ahead
        {"60000", noon_s + 61, noon + 60s},  // too far ahead
        {"60000", noon_s - 60, noon + 60s},  // it would be dead already, yet it came
        {"60000", noon_ms, noon + 60s},      // milliseconds where seconds belong
        {"60000", 0, noon + 60s},
        {"60000", std::numeric_limits<std::uint64_t>::max(), noon + 60s},
        {"0", std::nullopt, noon},
        {"", std::nullopt, std::nullopt},
        {"1h", std::nullopt, std::nullopt},
        {"-5", std::nullopt, std::nullopt},
        {"99999999999999999999", std::nullopt, std::nullopt},
        {"999999999999999", std::nullopt, std::nullopt},
    };
    for (const Row& row : rows) {
        INFO(row.expiration << " from " << row.timestamp.value_or(0));
        CHECK(from_work(expiring(row.expiration, row.timestamp)).ledger.expires == row.expires);
    }
    CHECK_FALSE(from_work(write_properties({})).ledger.expires);
}

TEST_CASE("the expiry is reckoned once and stays, however often the message comes back later") {
    const std::string first = copy_of(from_work(expiring("60000")));
    const Record later = from_lane(after_ttl_hop(first), noon + 30s);
    CHECK(later.ledger.expires == noon + 60s);
    CHECK(from_lane(after_ttl_hop(copy_of(later)), noon + 90s).ledger.expires == noon + 60s);
}

TEST_CASE("the last error's type is kept as text of bounded length") {
    CHECK(from_lane(with_headers({text("retryd-error-type", "DbTimeout")})).last_error == "DbTimeout");
    CHECK(from_lane(with_headers({text("retryd-error-type", std::string(1000, 'e'))})).last_error.size() == 128);
    CHECK(from_lane(with_headers({text("retryd-error-type", "a\nb\xff")})).last_error == "a?b?");
}

TEST_CASE("names on the lane that no broker could have given are not believed") {
    const Record record =
        from_lane(with_headers({text("retryd-exchange", std::string(256, 'e')),
                                text("retryd-routing-key", std::string(256, 'k')), text("retryd-id", std::string(256, 'i'))}));
    CHECK(record.origin.exchange.empty());
    CHECK(record.origin.routing_key == "retryd.orders.lane");
    CHECK(record.id.empty());
}

TEST_CASE("a record of an unknown version is read as far as it fits") {
    CHECK(from_lane(with_headers({number("retryd-v", 99), number("retryd-attempts", 2), text("retryd-new", "?")}))
              .ledger.attempts == 2);
}

TEST_CASE("properties that cannot be read are a problem and no crash") {
    for (const Side side : {Side::work, Side::lane}) {
        CHECK(read_record(message("\x80"), {}, side, noon).has_error());
        CHECK(read_record(message(""), {}, side, noon).has_error());
    }
}

TEST_CASE("any bytes from either side are read and written on, or refused") {
    Chance chance(8);
    for (int i = 0; i < 700; ++i) {
        std::string bytes = copy_of(from_work(random_properties(chance, table(chance.headers(3)))));
        if (chance.coin()) bytes = after_ttl_hop(bytes);
        bytes = chance.damaged(bytes);
        for (const Side side : {Side::work, Side::lane}) {
            const auto record = read_record(message(bytes), {}, side, noon);
            if (!record) continue;
            for (const RecordSize size : {RecordSize::full, RecordSize::reason, RecordSize::none}) {
                REQUIRE(read_properties(copy_of(*record, size)).has_value());
            }
            REQUIRE(same_original(once_round(*record).shown, record->shown));
        }
    }
}
