#include "deliver/http_request.hpp"

#include "model/header_table.hpp"
#include "model/properties.hpp"

#include <catch2/catch.hpp>

using namespace std::string_literals;
using namespace std::string_view_literals;
using namespace retryd;

namespace {

model::QueuePolicy orders() {
    model::QueuePolicy queue;
    queue.name = {"orders"};
    queue.deliver.http.host = "127.0.0.1:8080";
    queue.deliver.http.path = "/q/orders?v=1";
    return queue;
}

ports::Delivery delivery_of(const model::Properties& properties, std::string body = "hello") {
    ports::Delivery delivery;
    delivery.message = std::make_shared<const model::Message>(model::Message{"", std::move(body)});
    delivery.shown = model::write_properties(properties);
    delivery.exchange = "shop";
    delivery.routing_key = "order.new";
    delivery.idempotency_key = "id-1";
    delivery.max_attempts = 9;
    delivery.deadline = model::WallTime{model::Milliseconds{784111777042}};
    return delivery;
}

model::Properties with_headers(const model::TableWriter& table) {
    model::Properties properties;
    properties.headers = table.bytes();
    return properties;
}

std::string head_of(const model::TableWriter& table) {
    return deliver::request_head(delivery_of(with_headers(table)), orders());
}

// The line of that header; empty where there is none.
std::string line(const std::string& head, const std::string& name) {
    const auto start = head.find("\r\n" + name + ": ");
    return start == std::string::npos ? "" : head.substr(start + 2, head.find("\r\n", start + 2) - start - 2);
}

std::size_t lines(const std::string& head) {
    std::size_t count = 0;
    for (auto at = head.find("\r\n"); at != std::string::npos; at = head.find("\r\n", at + 2)) ++count;
    return count;
}

const std::string bare_head =
    "POST /q/orders?v=1 HTTP/1.1\r\n"
    "Host: 127.0.0.1:8080\r\n"
    "Content-Length: 5\r\n"
    "Idempotency-Key: id-1\r\n"
    "Retryd-Queue: orders\r\n"
    "Retryd-Attempt: 1\r\n"
    "Retryd-Max-Attempts: 9\r\n"
    "Retryd-Deadline: 1994-11-06T08:49:37.042Z\r\n"
    "Retryd-Exchange: shop\r\n"
    "Retryd-Routing-Key: order.new\r\n"
    "Retryd-Redelivered: false\r\n"
    "\r\n";

}  // namespace

TEST_CASE("a message without properties makes this request") {
    CHECK(deliver::request_head(delivery_of({}), orders()) == bare_head);
}

TEST_CASE("an empty body is announced as such") {
    CHECK(line(deliver::request_head(delivery_of({}, ""), orders()), "Content-Length") == "Content-Length: 0");
}

TEST_CASE("a retried delivery says what went before") {
    auto delivery = delivery_of({});
    delivery.attempt = 3;
    delivery.first_failed = model::WallTime{model::Milliseconds{1500}};
    delivery.redelivered = true;
    delivery.last_error = "DbTimeout: no\nanswer";
    const auto head = deliver::request_head(delivery, orders());
    CHECK(line(head, "Retryd-Attempt") == "Retryd-Attempt: 3");
    CHECK(line(head, "Retryd-First-Failed") == "Retryd-First-Failed: 1970-01-01T00:00:01.500Z");
    CHECK(line(head, "Retryd-Redelivered") == "Retryd-Redelivered: true");
    CHECK(line(head, "Retryd-Last-Error") == "Retryd-Last-Error: DbTimeout: no%0Aanswer");
}

TEST_CASE("a fallback is told for whom it stands in, at its own address") {
    auto delivery = delivery_of({});
    delivery.fallback_for = "payments";
    model::HttpTarget target;
    target.host = "127.0.0.1:8081";
    target.path = "/later";
    const auto head = deliver::request_head(delivery, orders(), target);
    CHECK(head.starts_with("POST /later HTTP/1.1\r\n"));
    CHECK(line(head, "Host") == "Host: 127.0.0.1:8081");
    CHECK(line(head, "Retryd-Fallback-For") == "Retryd-Fallback-For: payments");
    CHECK(line(deliver::request_head(delivery_of({}), orders()), "Retryd-Fallback-For").empty());
}

TEST_CASE("every property has its header, and absent ones have none") {
    model::Properties properties;
    properties.content_type = "application/json";
    properties.content_encoding = "gzip";
    properties.priority = std::uint8_t{7};
    properties.correlation_id = "c 1";
    properties.reply_to = "";
    properties.expiration = "60000";
    properties.message_id = "m\r\n1";
    properties.timestamp = 1700000000;
    properties.type = "t%";
    properties.user_id = "guest";
    properties.app_id = "\xc3\xa9";
    const auto head = deliver::request_head(delivery_of(properties), orders());
    const auto expected =
        GENERATE("Content-Type: application/json"s, "Content-Encoding: gzip"s, "Amqp-Priority: 7"s, "Amqp-Correlation-Id: c 1"s,
                 "Amqp-Reply-To: "s, "Amqp-Expiration: 60000"s, "Amqp-Message-Id: m%0D%0A1"s, "Amqp-Timestamp: 1700000000"s,
                 "Amqp-Type: t%25"s, "Amqp-User-Id: guest"s, "Amqp-App-Id: %C3%A9"s);
    CHECK(line(head, expected.substr(0, expected.find(':'))) == expected);
}

TEST_CASE("a content type that is unfit for HTTP is left out") {
    model::Properties properties;
    properties.content_type = "text/plain\r\nX-Admin: 1";
    properties.content_encoding = "";
    CHECK(deliver::request_head(delivery_of(properties), orders()) == bare_head);
}

TEST_CASE("application headers go out under a prefix, each value in its form") {
    model::TableWriter table;
    table.add_string("x-tenant", "acme corp");
    table.add_long("count", 42);
    table.add("raw", {'x', "\0\0\0\x02\x01\xff"sv});
    table.add("nothing", {'V', ""});
    const auto head = head_of(table);
    CHECK(line(head, "Amqp-Header-x-tenant") == "Amqp-Header-x-tenant: acme corp");
    CHECK(line(head, "Amqp-Header-count") == "Amqp-Header-count: 42");
    CHECK(line(head, "Amqp-Header-raw") == "Amqp-Header-raw: %01%FF");
    CHECK(line(head, "Amqp-Header-nothing") == "Amqp-Header-nothing: null");
    CHECK(line(head, "Retryd-Headers-Omitted").empty());
}

TEST_CASE("trace context keeps its name where it is fit for HTTP") {
    model::TableWriter table;
    table.add_string("traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");
    table.add_string("tracestate", "a=1\r\nX-Admin: 1");
    const auto head = head_of(table);
    CHECK(line(head, "traceparent") == "traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");
    CHECK(line(head, "tracestate").empty());
    CHECK(line(head, "Amqp-Header-tracestate") == "Amqp-Header-tracestate: a=1%0D%0AX-Admin: 1");
}

TEST_CASE("CloudEvents attributes become ce headers, once each") {
    model::TableWriter table;
    table.add_string("cloudEvents:id", "1");
    table.add_string("cloudEvents_source", "/shop");
    table.add_string("cloudEvents_id", "2");
    table.add_string("cloudEvents:", "x");
    const auto head = head_of(table);
    CHECK(line(head, "ce-id") == "ce-id: 1");
    CHECK(line(head, "ce-source") == "ce-source: /shop");
    CHECK(line(head, "Amqp-Header-cloudEvents%3A") == "Amqp-Header-cloudEvents%3A: x");
    CHECK(line(head, "Retryd-Headers-Omitted") == "Retryd-Headers-Omitted: 1");
}

TEST_CASE("nothing in a header's name or value adds a line or touches a reserved header") {
    const std::string name = GENERATE("x"s, "a b"s, "a:b"s, "a\r\nb"s, ""s, "\xc3\xa9"s, "Host"s, "Content-Length"s,
                                      "Transfer-Encoding"s, "Connection"s, "Expect"s, "Retryd-Attempt"s, "Idempotency-Key"s);
    CAPTURE(name);
    model::TableWriter table;
    table.add_string(name, "a\r\nX-Admin: 1\r\n\r\nGET / HTTP/1.1");
    const auto head = head_of(table);
    CHECK(lines(head) == lines(bare_head) + 1);
    CHECK(head.find("\r\n\r\n") == head.size() - 4);
    CHECK(head.starts_with(bare_head.substr(0, bare_head.size() - 2)));
    CHECK(head.find("\r\nAmqp-Header-") != std::string::npos);
}

TEST_CASE("a name that HTTP can't tell from one before is left out and counted") {
    model::TableWriter table;
    table.add_string("tenant", "a");
    table.add_string("Tenant", "b");
    table.add_string("tenant", "c");
    const auto head = head_of(table);
    CHECK(line(head, "Amqp-Header-tenant") == "Amqp-Header-tenant: a");
    CHECK(line(head, "Amqp-Header-Tenant").empty());
    CHECK(line(head, "Retryd-Headers-Omitted") == "Retryd-Headers-Omitted: 2");
}

TEST_CASE("a head stays within 16 KiB: the largest application headers are left out first") {
    model::TableWriter table;
    table.add_string("small", "s");
    table.add_string("largest", std::string(9000, 'l'));
    table.add_string("large", std::string(8000, 'm'));
    table.add_string("last", "z");
    const auto head = head_of(table);
    CHECK(head.size() <= deliver::max_request_head);
    CHECK(line(head, "Amqp-Header-largest").empty());
    CHECK(line(head, "Amqp-Header-large").size() > 8000);
    CHECK(line(head, "Amqp-Header-small") == "Amqp-Header-small: s");
    CHECK(line(head, "Amqp-Header-last") == "Amqp-Header-last: z");
    CHECK(line(head, "Retryd-Headers-Omitted") == "Retryd-Headers-Omitted: 1");
}

TEST_CASE("a head stays within 16 KiB at any number of headers, measured as they are encoded") {
    const auto count = GENERATE(100, 1000, 4000);
    const std::string value = GENERATE("v"s, std::string(60, '\n'));
    model::TableWriter table;
    for (int i = 0; i < count; ++i) table.add_string("h" + std::to_string(i), value);
    const auto head = head_of(table);
    CAPTURE(count);
    CHECK(head.size() <= deliver::max_request_head);
    const auto left_out = line(head, "Retryd-Headers-Omitted");
    const auto omitted = left_out.empty() ? 0U : std::stoul(left_out.substr(left_out.find(' ')));
    CHECK(lines(head) + omitted == lines(bare_head) + static_cast<std::size_t>(count) + (omitted > 0 ? 1 : 0));
    CHECK(head.size() + 2 * 220 > (omitted > 0 ? deliver::max_request_head : 0));
}

TEST_CASE("the longest properties and an endless last error leave a head under 16 KiB") {
    const std::string longest(255, '\n');
    model::Properties properties;
    for (auto* property : {&properties.correlation_id, &properties.reply_to, &properties.expiration, &properties.message_id,
                           &properties.type, &properties.user_id, &properties.app_id}) {
        *property = longest;
    }
    auto delivery = delivery_of(properties);
    delivery.exchange = delivery.routing_key = delivery.idempotency_key = longest;
    delivery.last_error = std::string(100'000, '\n');
    CHECK(deliver::request_head(delivery, orders()).size() <= deliver::max_request_head);
}

TEST_CASE("properties or headers that can't be read add nothing") {
    auto delivery = delivery_of({});
    delivery.shown = "\xff";
    CHECK(deliver::request_head(delivery, orders()) == bare_head);
    model::Properties properties;
    properties.headers = "\x01k?"sv;
    const auto head = deliver::request_head(delivery_of(properties), orders());
    CHECK(line(head, "Retryd-Headers-Omitted") == "Retryd-Headers-Omitted: 1");
}

TEST_CASE("the policy's fixed headers go out as written and win over the message") {
    auto queue = orders();
    queue.deliver.headers = {{"Authorization", "Bearer 100%"}, {"content-type", "text/plain"}, {"CE-ID", "fixed"}};
    model::TableWriter table;
    table.add_string("cloudEvents:id", "forged");
    auto properties = with_headers(table);
    properties.content_type = "application/json";
    const auto head = deliver::request_head(delivery_of(properties), queue);
    CHECK(line(head, "Authorization") == "Authorization: Bearer 100%");
    CHECK(line(head, "content-type") == "content-type: text/plain");
    CHECK(line(head, "Content-Type").empty());
    CHECK(line(head, "CE-ID") == "CE-ID: fixed");
    CHECK(line(head, "ce-id").empty());
}

TEST_CASE("no fixed header can break the request") {
    auto queue = orders();
    queue.deliver.headers = {{"Host", "evil"},
                             {"content-length", "0"},
                             {"Transfer-Encoding", "chunked"},
                             {"Connection", "close"},
                             {"Expect", "x"},
                             {"Retryd-Attempt", "7"},
                             {"Idempotency-Key", "x"},
                             {"Amqp-Type", "x"},
                             {"a b", "x"},
                             {"", "x"},
                             {"X-A", "a\r\nX-Admin: 1"},
                             {"X-B", "a\x7f"}};
    CHECK(deliver::request_head(delivery_of({}), queue) == bare_head);
}
