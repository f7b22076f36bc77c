#include "deliver/stream_message.hpp"

#include "model/header_table.hpp"
#include "model/properties.hpp"

#include <boost/json/parse.hpp>

#include <catch2/catch.hpp>

using namespace retryd;
using namespace retryd::deliver;
using namespace std::chrono_literals;
namespace json = boost::json;

namespace {

json::object header_of(const std::string& frame) {
    return json::parse(json::string_view(frame.data() + frame_prefix, frame.size() - frame_prefix)).as_object();
}

std::uint32_t length(const std::string& frame, std::size_t at) {
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < 4; ++i) value = value << 8 | static_cast<unsigned char>(frame[at + i]);
    return value;
}

ports::Delivery delivery_of(const model::Properties& properties = {}, std::string body = "hello") {
    ports::Delivery delivery;
    delivery.message = std::make_shared<const model::Message>(model::Message{"", std::move(body)});
    delivery.shown = model::write_properties(properties);
    delivery.exchange = "events";
    delivery.routing_key = "order.new";
    delivery.idempotency_key = "m-1";
    delivery.attempt = 2;
    delivery.max_attempts = 9;
    delivery.deadline = model::WallTime{1764522309120ms};
    return delivery;
}

json::object message(const ports::Delivery& delivery) {
    return header_of(message_frame(delivery, 17, {"orders"}));
}

}  // namespace

TEST_CASE("a message is told with all that is known of it") {
    auto delivery = delivery_of();
    delivery.first_failed = model::WallTime{1764522300000ms};
    delivery.last_error = "DbTimeout";
    delivery.redelivered = true;
    const auto frame = message_frame(delivery, 17, {"orders"});
    CHECK(length(frame, 0) == frame.size() - frame_prefix);
    CHECK(length(frame, 4) == 5);
    CHECK(header_of(frame) == json::parse(R"({"op":"message","id":17,"queue":"orders","attempt":2,"max_attempts":9,
        "first_failed":"2025-11-30T17:05:00.000Z","deadline":"2025-11-30T17:05:09.120Z","redelivered":true,
        "exchange":"events","routing_key":"order.new","idempotency_key":"m-1","last_error":"DbTimeout",
        "properties":{},"headers":{}})"));
}

TEST_CASE("what there was none of is absent") {
    const auto header = message(delivery_of());
    CHECK_FALSE(header.contains("first_failed"));
    CHECK_FALSE(header.contains("last_error"));
    CHECK_FALSE(header.contains("headers_omitted"));
}

TEST_CASE("properties have AMQP's names, and absent stays absent") {
    model::Properties properties;
    properties.content_type = "text/plain";
    properties.delivery_mode = 2;
    properties.priority = 0;
    properties.correlation_id = "";
    properties.timestamp = 1764522309;
    properties.expiration = "60000";
    properties.user_id = "guest";
    CHECK(message(delivery_of(properties)).at("properties") ==
          json::parse(R"({"content_type":"text/plain","delivery_mode":2,"priority":0,"correlation_id":"","expiration":"60000",
                          "timestamp":1764522309,"user_id":"guest"})"));
}

TEST_CASE("headers keep their types, and their table is an object whatever its keys") {
    model::TableWriter table;
    table.add_string("s", "text");
    table.add_long("n", 7);
    table.add_bytes("b", "\xff");
    model::Properties properties;
    properties.headers = table.bytes();
    CHECK(message(delivery_of(properties)).at("headers") == json::parse(R"({"s":"text","n":7,"b":{"$bytes":"/w=="}})"));
    model::TableWriter odd;
    odd.add_string("$bytes", "x");
    properties.headers = odd.bytes();
    CHECK(message(delivery_of(properties)).at("headers") == json::parse(R"({"$bytes":"x"})"));
}

TEST_CASE("headers that can't be read or that are too long are left out, by name") {
    model::Properties properties;
    properties.headers = "\x01xZ";  // no such type
    auto header = message(delivery_of(properties));
    CHECK(header.at("headers") == json::object());
    CHECK(header.at("headers_omitted") == true);
    model::TableWriter large;
    large.add_string("s", std::string(max_frame_header, 'x'));
    properties.headers = large.bytes();
    const auto frame = message_frame(delivery_of(properties), 17, {"orders"});
    CHECK(length(frame, 0) < max_frame_header);
    CHECK(header_of(frame).at("headers_omitted") == true);
}

TEST_CASE("a header of just under 1 MiB still goes, and none is longer") {
    for (std::size_t size = max_frame_header - 700; size < max_frame_header; size += 7) {
        model::TableWriter table;
        table.add_string("s", std::string(size, 'x'));
        model::Properties properties;
        properties.headers = table.bytes();
        const auto frame = message_frame(delivery_of(properties), 17, {"orders"});
        REQUIRE(length(frame, 0) <= max_frame_header);
    }
}

TEST_CASE("texts that are not UTF-8 go as bytes, so that two of them stay two") {
    auto delivery = delivery_of();
    delivery.routing_key = "\xff";
    delivery.idempotency_key = "\xfe";
    const auto header = message(delivery);
    CHECK(header.at("routing_key") == json::parse(R"({"$bytes":"/w=="})"));
    CHECK(header.at("idempotency_key") == json::parse(R"({"$bytes":"/g=="})"));
}

TEST_CASE("an error's name is shown cut") {
    auto delivery = delivery_of();
    delivery.last_error = std::string(100000, 'x');
    CHECK(message(delivery).at("last_error").as_string().size() == 512);
}

TEST_CASE("what else retryd says") {
    CHECK(header_of(welcome_frame({"orders"}, {67108864}, 20s)) ==
          json::parse(R"({"op":"welcome","protocol":1,"queue":"orders","max_header":1048576,"max_body":67108864,
                          "timeout_ms":20000})"));
    CHECK(header_of(ping_frame()) == json::parse(R"({"op":"ping"})"));
    CHECK(header_of(drain_frame()) == json::parse(R"({"op":"drain"})"));
    CHECK(header_of(error_frame({"bad_json", "it is \"no\" JSON"})) ==
          json::parse(R"({"op":"error","code":"bad_json","message":"it is \"no\" JSON"})"));
    CHECK(length(ping_frame(), 4) == 0);
}
