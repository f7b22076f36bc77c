// What a message becomes on the connection to its consumer: one request, and no header in it but those that we meant. It is
// read back by a parser that knows nothing of how it was written.

#include "deliver/http_request.hpp"
#include "fuzz/input.hpp"
#include "fuzz/messages.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <vector>

using namespace retryd;
using fuzz::require;

namespace {

struct Line {
    std::string name;  // lower case
    std::string_view value;
};

bool is_token(std::string_view text) {
    constexpr std::string_view token = "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    return !text.empty() && text.find_first_not_of(token) == std::string_view::npos;
}

std::string lower(std::string_view text) {
    std::string out(text);
    for (char& c : out) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
    return out;
}

// The bytes that a receiver sees, taken as strictly as RFC 9112 says and as loosely as some do: a bare CR or LF, a NUL or a
// fold would be a line's end to somebody, so there may be none.
std::vector<Line> headers_of(std::string_view head, std::string_view request_line) {
    require(head.ends_with("\r\n\r\n"), "a head ends with an empty line");
    head.remove_suffix(2);
    std::vector<Line> lines;
    for (bool first = true; !head.empty(); first = false) {
        const auto end = head.find("\r\n");
        require(end != std::string_view::npos, "every line ends");
        const auto line = head.substr(0, end);
        head.remove_prefix(end + 2);
        const bool plain = std::all_of(line.begin(), line.end(), [](char c) { return c >= 0x20 && c <= 0x7e; });
        require(plain, "a line is printable ASCII");
        if (first) {
            require(line == request_line, "the request line is the policy's");
            continue;
        }
        const auto colon = line.find(':');
        require(colon != std::string_view::npos && line.substr(colon, 2) == ": ", "a header has a colon and a space");
        const auto name = line.substr(0, colon);
        const auto value = line.substr(colon + 2);
        require(is_token(name), "a name is a token");
        require(value.empty() || (value.front() != ' ' && value.back() != ' '), "no space stands round a value");
        lines.push_back({lower(name), value});
    }
    return lines;
}

std::string decoded(std::string_view text) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '%') {
            out += text[i];
            continue;
        }
        require(i + 2 < text.size(), "an escape has two digits");
        out += static_cast<char>(std::stoi(std::string(text.substr(i + 1, 2)), nullptr, 16));
        i += 2;
    }
    return out;
}

bool is_of_the_message(const std::string& name) {
    return name.starts_with("amqp-header-") || name.starts_with("ce-") || name == "traceparent" || name == "tracestate";
}

bool may_come(const std::string& name) {
    constexpr std::array<std::string_view, 26> ours{"host",
                                                    "content-length",
                                                    "x-secret",
                                                    "content-type",
                                                    "content-encoding",
                                                    "idempotency-key",
                                                    "retryd-queue",
                                                    "retryd-attempt",
                                                    "retryd-max-attempts",
                                                    "retryd-first-failed",
                                                    "retryd-deadline",
                                                    "retryd-exchange",
                                                    "retryd-routing-key",
                                                    "retryd-redelivered",
                                                    "retryd-last-error",
                                                    "retryd-headers-omitted",
                                                    "amqp-message-id",
                                                    "amqp-correlation-id",
                                                    "amqp-reply-to",
                                                    "amqp-type",
                                                    "amqp-app-id",
                                                    "amqp-user-id",
                                                    "amqp-timestamp",
                                                    "amqp-priority",
                                                    "amqp-expiration",
                                                    "connection"};
    return is_of_the_message(name) || (name != "connection" && std::find(ours.begin(), ours.end(), name) != ours.end());
}

using Headers = std::map<std::string, std::string_view>;

// Each name once: what stands twice is read differently by different receivers.
Headers by_name(const std::vector<Line>& lines) {
    Headers headers;
    for (const auto& [name, value] : lines) {
        require(may_come(name), "no header comes that we did not mean");
        require(headers.emplace(name, value).second, "no header comes twice");
    }
    return headers;
}

void require_same(const Headers& headers, const std::string& name, const std::optional<std::string_view>& original) {
    const auto found = headers.find(name);
    require((found != headers.end()) == original.has_value(), "a property is there when the message has it");
    if (original) require(decoded(found->second) == *original, "a property's bytes come back");
}

void compare(const Headers& headers, const ports::Delivery& delivery) {
    require(headers.at("host") == "127.0.0.1:8080" && headers.at("x-secret") == "s3cret", "the policy's headers stand");
    require(headers.at("content-length") == std::to_string(delivery.message->body.size()), "the length is the body's");
    require_same(headers, "idempotency-key", delivery.idempotency_key);
    require_same(headers, "retryd-exchange", delivery.exchange);
    require_same(headers, "retryd-routing-key", delivery.routing_key);
    const auto properties = model::read_properties(delivery.shown);
    if (!properties) return;
    require_same(headers, "amqp-message-id", properties->message_id);
    require_same(headers, "amqp-correlation-id", properties->correlation_id);
    require_same(headers, "amqp-reply-to", properties->reply_to);
    require_same(headers, "amqp-type", properties->type);
    require_same(headers, "amqp-app-id", properties->app_id);
    require_same(headers, "amqp-user-id", properties->user_id);
    require_same(headers, "amqp-expiration", properties->expiration);

    const auto table = model::read_table(properties->headers.value_or(""));
    std::size_t shown = 0;
    for (const auto& [name, value] : headers) shown += is_of_the_message(name) ? 1 : 0;
    const auto omitted = headers.find("retryd-headers-omitted");
    if (omitted != headers.end()) shown += static_cast<std::size_t>(std::stoul(std::string(omitted->second)));
    require(shown == (table ? table->size() : 1), "every header of the message is shown or counted");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::Input in(data, size);
    model::QueuePolicy queue;
    queue.name.value = in.text();
    queue.deliver.http.host = "127.0.0.1:8080";
    queue.deliver.http.path = "/orders?x=1";
    queue.deliver.headers = {{"X-Secret", "s3cret"}, {"Bad", "a\r\nX-Admin: 1"}, {"Content-Length", "0"}};
    const auto delivery = fuzz::delivery(in);
    const auto head = deliver::request_head(delivery, queue);
    require(head.size() <= deliver::max_request_head, "a head has its bound");
    compare(by_name(headers_of(head, "POST /orders?x=1 HTTP/1.1")), delivery);
    return 0;
}
