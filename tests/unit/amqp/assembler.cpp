#include "amqp/assembler.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <string>
#include <vector>

using namespace retryd::amqp;

namespace {

Deliver deliver_on(ChannelNumber channel, std::uint64_t tag) {
    return {channel, tag, {"exchange", "key", true}, nullptr};
}

Incoming feed(Assembler& assembler, ChannelNumber channel, const std::string& body, const std::vector<std::size_t>& cuts) {
    Incoming last = assembler.header(channel, body.size(), "properties");
    std::size_t from = 0;
    for (const std::size_t to : cuts) {
        CHECK(std::holds_alternative<Nothing>(last));
        last = assembler.body(channel, std::string_view{body}.substr(from, to - from));
        from = to;
    }
    return last;
}

}  // namespace

TEST_CASE("a message without a body is whole with its header") {
    Assembler assembler;
    CHECK(std::holds_alternative<Nothing>(assembler.begin(deliver_on(3, 9))));
    const Incoming whole = assembler.header(3, 0, "properties");
    REQUIRE(std::holds_alternative<Deliver>(whole));
    const auto& deliver = std::get<Deliver>(whole);
    CHECK(deliver.channel == 3);
    CHECK(deliver.tag == 9);
    CHECK(deliver.arrival.exchange == "exchange");
    CHECK(deliver.arrival.routing_key == "key");
    CHECK(deliver.arrival.redelivered);
    CHECK(deliver.message->properties == "properties");
    CHECK(deliver.message->body.empty());
}

TEST_CASE("a body arrives whole wherever it is cut") {
    const std::string body{
        "0123\0"
        "56789",
        10};
    for (std::size_t first = 1; first < body.size(); ++first) {
        for (std::size_t second = first; second <= body.size(); ++second) {
            std::vector<std::size_t> cuts{first};
            if (second != first) cuts.push_back(second);
            if (cuts.back() != body.size()) cuts.push_back(body.size());
            Assembler assembler;
            (void)assembler.begin(deliver_on(1, 1));
            const Incoming whole = feed(assembler, 1, body, cuts);
            REQUIRE(std::holds_alternative<Deliver>(whole));
            CHECK(std::get<Deliver>(whole).message->body == body);
        }
    }
}

TEST_CASE("messages on two channels may interleave") {
    Assembler assembler;
    (void)assembler.begin(deliver_on(1, 10));
    (void)assembler.begin(deliver_on(2, 20));
    (void)assembler.header(2, 2, "two");
    (void)assembler.header(1, 2, "one");
    (void)assembler.body(1, "a");
    (void)assembler.body(2, "x");
    const Incoming second = assembler.body(2, "y");
    const Incoming first = assembler.body(1, "b");
    REQUIRE(std::holds_alternative<Deliver>(first));
    REQUIRE(std::holds_alternative<Deliver>(second));
    CHECK(std::get<Deliver>(first).message->body == "ab");
    CHECK(std::get<Deliver>(first).message->properties == "one");
    CHECK(std::get<Deliver>(second).message->body == "xy");
    CHECK(std::get<Deliver>(second).message->properties == "two");
}

TEST_CASE("a returned copy comes with its properties and without its body") {
    Assembler assembler;
    (void)assembler.begin(Return{1, 312, "NO_ROUTE", "missing", {}});
    const Incoming whole = feed(assembler, 1, "body", {2, 4});
    REQUIRE(std::holds_alternative<Return>(whole));
    const auto& returned = std::get<Return>(whole);
    CHECK(returned.code == 312);
    CHECK(returned.text == "NO_ROUTE");
    CHECK(returned.routing_key == "missing");
    CHECK(returned.properties == "properties");
}

TEST_CASE("what a closed channel left half-way is forgotten") {
    Assembler assembler;
    (void)assembler.begin(deliver_on(1, 1));
    (void)assembler.header(1, 5, "old");
    assembler.forget(1);
    (void)assembler.begin(deliver_on(1, 1));
    const Incoming whole = feed(assembler, 1, "new", {3});
    REQUIRE(std::holds_alternative<Deliver>(whole));
    CHECK(std::get<Deliver>(whole).message->body == "new");
}

TEST_CASE("a giant size is not believed before its bytes have come") {
    Assembler assembler;
    (void)assembler.begin(deliver_on(1, 1));
    CHECK(std::holds_alternative<Nothing>(assembler.header(1, ~std::uint64_t{0}, "")));  // reserving that would throw
    CHECK(std::holds_alternative<Nothing>(assembler.body(1, std::string(3 * 1024 * 1024, 'x'))));
}

TEST_CASE("a large body is held without room to spare") {
    const std::string body(3 * 1024 * 1024 + 7, 'x');
    Assembler assembler;
    (void)assembler.begin(deliver_on(1, 1));
    Incoming whole = assembler.header(1, body.size(), "");
    for (std::size_t from = 0; from < body.size(); from += 131064) {
        whole = assembler.body(1, std::string_view{body}.substr(from, 131064));
    }
    REQUIRE(std::holds_alternative<Deliver>(whole));
    CHECK(std::get<Deliver>(whole).message->body == body);
    CHECK(std::get<Deliver>(whole).message->body.capacity() == body.size());
}

TEST_CASE("frames in a forbidden order are malformed") {
    Assembler assembler;
    SECTION("a header that nothing announced") {
        CHECK(std::holds_alternative<Malformed>(assembler.header(1, 0, "")));
    }
    SECTION("a body that nothing announced") {
        CHECK(std::holds_alternative<Malformed>(assembler.body(1, "x")));
    }
    SECTION("a body before its header") {
        (void)assembler.begin(deliver_on(1, 1));
        CHECK(std::holds_alternative<Malformed>(assembler.body(1, "x")));
    }
    SECTION("a second header") {
        (void)assembler.begin(deliver_on(1, 1));
        (void)assembler.header(1, 1, "");
        CHECK(std::holds_alternative<Malformed>(assembler.header(1, 1, "")));
    }
    SECTION("a second message before the first is whole") {
        (void)assembler.begin(deliver_on(1, 1));
        CHECK(std::holds_alternative<Malformed>(assembler.begin(deliver_on(1, 2))));
    }
    SECTION("more bytes than the header said") {
        (void)assembler.begin(deliver_on(1, 1));
        (void)assembler.header(1, 2, "");
        CHECK(std::holds_alternative<Malformed>(assembler.body(1, "xyz")));
    }
}
