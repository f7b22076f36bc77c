#include "model/original.hpp"

#include "unit/model/records.hpp"

#include <catch2/catch.hpp>

using namespace samples;

namespace {

Properties read(const std::string& properties) {
    return read_properties(properties).value();
}

std::string with_user_id(const char* user) {
    Properties p;
    p.user_id = user;
    return write_properties(p);
}

// Three attempts, each shown the original.
void check_three_attempts(const std::string& original) {
    Record record = from_work(original);
    CHECK(record.shown == original);
    for (int attempt = 2; attempt <= 3; ++attempt) {
        INFO("attempt " << attempt);
        record = once_round(record);
        CHECK(same_original(record.shown, original));
    }
}

}  // namespace

TEST_CASE("somebody else's user-id is not published and is given back") {
    const std::string original = with_user_id("alice");
    CHECK_FALSE(read(copy_of(from_work(original))).user_id);
    check_three_attempts(original);
}

TEST_CASE("CC and BCC stand on no copy, so that it is not routed twice, and are shown on every attempt") {
    const std::string original =
        with_headers({{"CC", 'A', sized("S" + sized("other"))}, {"BCC", 'A', sized("S" + sized("third"))}, number("k", 1)});
    for (const RecordSize size : {RecordSize::full, RecordSize::reason, RecordSize::none}) {
        const std::string copy = copy_of(from_work(original), size);
        CHECK(all_named(copy, "CC").empty());
        CHECK(all_named(copy, "BCC").empty());
        CHECK(all_named(copy, "k").size() == 1);
    }
    check_three_attempts(original);
}

TEST_CASE("the message's own expiration does not stand on a copy and is given back") {
    Properties p;
    p.expiration = "20";
    const std::string original = write_properties(p);
    for (const RecordSize size : {RecordSize::full, RecordSize::reason, RecordSize::none}) {
        CHECK_FALSE(read(copy_of(from_work(original), size)).expiration);
    }
    check_three_attempts(original);
}

TEST_CASE("every kind of header is shown unchanged on the third attempt") {
    check_three_attempts(with_headers(every_kind()));
}

TEST_CASE("every kind of header stands on the copy as it was, in its order") {
    const std::string copy = copy_of(from_work(with_headers(every_kind())));
    auto headers = headers_of(*read(copy).headers);
    headers.resize(every_kind().size());
    CHECK(headers == every_kind());
}

TEST_CASE("a foreign x-death enters no tier, junk or not, and is given back") {
    for (const Header& death : {Header{"x-death", 'A', sized("S" + sized("junk"))},
                                Header{"x-death", 'A', sized("F" + sized(table({{"time", 'T', big_endian(1, 8)}})))},
                                text("x-first-death-queue", "theirs"),
                                text("x-last-death-reason", "rejected"),
                                number("x-delivery-count", 77),
                                {"x-opt-deaths", 'A', sized("")}}) {
        INFO(death.name);
        const std::string original = with_headers({death, text("mine", "kept")});
        for (const RecordSize size : {RecordSize::full, RecordSize::reason, RecordSize::none}) {
            CHECK(all_named(copy_of(from_work(original), size), death.name).empty());
        }
        check_three_attempts(original);
    }
}

TEST_CASE("what the broker adds on the way through a tier is not shown") {
    const Record record = once_round(from_work(with_headers({text("mine", "kept")})));
    CHECK(header_names(record.shown) == std::vector<std::string>{"mine"});
}

TEST_CASE("a copy is persistent whatever the original was, and the original's mode is given back") {
    for (const std::optional<std::uint8_t> mode :
         {std::optional<std::uint8_t>{}, std::optional<std::uint8_t>{0}, std::optional<std::uint8_t>{1},
          std::optional<std::uint8_t>{2}, std::optional<std::uint8_t>{3}}) {
        Properties p;
        p.delivery_mode = mode;
        const std::string original = write_properties(p);
        for (const RecordSize size : {RecordSize::full, RecordSize::reason, RecordSize::none}) {
            CHECK(read(copy_of(from_work(original), size)).delivery_mode == 2);
        }
        CHECK(read(once_round(from_work(original)).shown).delivery_mode == mode);
    }
}

TEST_CASE("priority and the other properties stand on the copy itself") {
    Properties p;
    p.content_type = "text/plain";
    p.content_encoding = "gzip";
    p.priority = 7;
    p.correlation_id = "c";
    p.reply_to = "answers";
    p.message_id = "m";
    p.timestamp = 1700000000;
    p.type = "t";
    p.app_id = "a";
    p.cluster_id = "cl";
    const std::string original = write_properties(p);
    const std::string bytes = copy_of(from_work(original));
    Properties copy = read(bytes);
    CHECK(copy.headers);
    copy.headers.reset();
    copy.delivery_mode.reset();
    CHECK(copy == p);
    check_three_attempts(original);
}

TEST_CASE("a reply-to pseudo-queue is set aside, an ordinary one stays in place") {
    Properties p;
    p.reply_to = "amq.rabbitmq.reply-to.g1h2AAhyYWJiaXQ";
    const std::string original = write_properties(p);
    CHECK_FALSE(read(copy_of(from_work(original))).reply_to);
    check_three_attempts(original);
}

TEST_CASE("a message without a header table gets none back, one with an empty table an empty one") {
    CHECK_FALSE(read(once_round(from_work(write_properties({}))).shown).headers);
    CHECK(read(once_round(from_work(with_headers({}))).shown).headers == "");
    check_three_attempts(write_properties({}));
}

TEST_CASE("foreign retryd headers are payload: not believed, not left in place, given back") {
    const std::string original = with_headers({number("retryd-attempts", 99),
                                               text("retryd-id", "forged"),
                                               {"retryd-original", 'F', sized(table({text("user-id", "x")}))},
                                               text("retryd-anything", "at all")});
    const Record record = from_work(original);
    CHECK(record.ledger == Ledger{});
    CHECK(record.id.empty());
    const std::string copy = copy_of(record);
    CHECK(all_named(copy, "retryd-attempts").size() == 1);
    CHECK(all_named(copy, "retryd-original").size() == 1);
    CHECK(all_named(copy, "retryd-anything").empty());
    CHECK(once_round(record).ledger.attempts == 1);
    check_three_attempts(original);
}

TEST_CASE("a property and a header of the same name are not confused") {
    Properties p;
    p.user_id = "alice";
    p.expiration = "5000";
    const std::string bytes = table({text("user-id", "a header"), number("expiration", 7), text("delivery-mode", "x"),
                                     text("headers", "y"), number("expires-ms", 1)});
    p.headers = bytes;
    check_three_attempts(write_properties(p));
}

TEST_CASE("a header table that cannot be read is carried as bytes and given back") {
    Properties p;
    p.headers = "\x01kZ??";
    const std::string original = write_properties(p);
    for (const RecordSize size : {RecordSize::full, RecordSize::reason, RecordSize::none}) {
        const std::string copy = copy_of(from_work(original), size);
        REQUIRE(read_table(*read(copy).headers).has_value());
        CHECK(from_lane(after_ttl_hop(copy)).shown.find("\x01kZ??") != std::string::npos);
    }
    Record record = from_work(original);
    for (int i = 0; i < 3; ++i) record = once_round(record);
    CHECK(record.shown == original);
    CHECK(from_lane(original).shown == original);
}

TEST_CASE("a message that others put on the lane is shown without what is ours or the broker's") {
    Properties p;
    p.delivery_mode = 1;
    p.user_id = "operator";
    const std::string bytes = table({text("mine", "kept"), number("retryd-attempts", 2)});
    p.headers = bytes;
    const Record record = from_lane(after_ttl_hop(write_properties(p)));
    CHECK(header_names(record.shown) == std::vector<std::string>{"mine"});
    CHECK(read(record.shown).delivery_mode == 1);
    CHECK(read(record.shown).user_id == "operator");
    CHECK(from_lane(write_properties({})).shown == write_properties({}));
}

TEST_CASE("garbage in the table of what was set aside is not put back") {
    const std::string huge(300, 'u');
    const std::vector<std::vector<Header>> rows{
        {number("user-id", 5)},         {text("user-id", huge)},       {text("delivery-mode", "2")},
        {number("delivery-mode", 300)}, {number("delivery-mode", -1)}, {text("expiration", huge)},
        {number("headers", 1)},         {text("headers", "x")},        {{"headers", 'F', sized("?")}},
        {{"headers", 'A', sized("V")}}, {text("reply-to", huge)},
    };
    for (const auto& row : rows) {
        INFO(row[0].name << " " << row[0].type);
        const Properties shown =
            read_properties(from_lane(with_headers({{"retryd-original", 'F', sized(table(row))}})).shown).value();
        CHECK_FALSE(shown.user_id);
        CHECK_FALSE(shown.delivery_mode);
        CHECK_FALSE(shown.expiration);
        CHECK_FALSE(shown.reply_to);
        CHECK(shown.headers.value_or("").empty());
    }
}

TEST_CASE("whatever a message carries, the consumer is shown it on every attempt") {
    Chance chance(7);
    const std::vector<std::string> special{
        "CC", "BCC", "x-death", "x-first-death-queue", "x-delivery-count", "retryd-id", "retryd-original", "headers"};
    for (int i = 0; i < 400; ++i) {
        auto headers = chance.headers(6);
        for (Header& header : headers) {
            if (chance.coin()) header.name = special[chance.below(special.size())];
        }
        const std::string original = random_properties(chance, table(headers));
        Record record = from_work(original);
        REQUIRE(record.shown == original);
        for (int hop = 0; hop < 3; ++hop) {
            record = once_round(record);
            REQUIRE(same_original(record.shown, original));
        }
    }
}
