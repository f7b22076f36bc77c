#include "deliver/http_request.hpp"

#include "deliver/http_date.hpp"
#include "deliver/http_header_value.hpp"
#include "deliver/http_text.hpp"
#include "model/header_table.hpp"
#include "model/properties.hpp"
#include "model/reserved_headers.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <set>
#include <vector>

namespace retryd::deliver {
namespace {

using FixedHeaders = std::vector<std::pair<std::string, std::string>>;

constexpr std::size_t longest_last_error = 512;  // bytes of it that the consumer is shown
constexpr std::string_view omitted_name = "Retryd-Headers-Omitted";
constexpr std::size_t omitted_line = omitted_name.size() + 16;  // with its number and line end

bool is_fixed(const FixedHeaders& fixed, std::string_view name) {
    return std::any_of(fixed.begin(), fixed.end(), [&](const auto& header) { return equal_ignoring_case(header.first, name); });
}

// A fixed value goes out as it was written, so it must not end its line.
bool may_be_sent(const std::string& name, const std::string& value) {
    const auto is_control = [](char c) { return (c >= 0 && c < 0x20 && c != '\t') || c == 0x7f; };
    return !name.empty() && std::all_of(name.begin(), name.end(), is_token_char) && !model::is_reserved_header(name) &&
           std::none_of(value.begin(), value.end(), is_control);
}

// The headers that retryd makes itself, written one after the other.
class OwnHeaders {
public:
    explicit OwnHeaders(const FixedHeaders& fixed) : fixed_(fixed) {}

    void fixed() {
        for (const auto& [name, value] : fixed_) {
            if (may_be_sent(name, value)) raw(name, value);
        }
    }

    void raw(std::string_view name, std::string_view value) { lines_.append(name).append(": ").append(value).append("\r\n"); }
    void escaped(std::string_view name, std::string_view value) {
        lines_.append(name).append(": ");
        append_escaped_value(lines_, value);
        lines_.append("\r\n");
    }
    void property(std::string_view name, const std::optional<std::string_view>& value) {
        if (value) escaped(name, *value);
    }
    // As the message has it; left out when unfit for HTTP, or when the policy fixes it.
    void unchanged(std::string_view name, const std::optional<std::string_view>& value) {
        if (value && is_plain_value(*value) && !is_fixed(fixed_, name)) raw(name, *value);
    }
    std::string& lines() { return lines_; }

private:
    const FixedHeaders& fixed_;
    std::string lines_;
};

void write_delivery(OwnHeaders& own, const ports::Delivery& delivery, const model::QueuePolicy& queue) {
    own.escaped("Idempotency-Key", delivery.idempotency_key);
    own.escaped("Retryd-Queue", queue.name.value);
    own.raw("Retryd-Attempt", std::to_string(delivery.attempt));
    own.raw("Retryd-Max-Attempts", std::to_string(delivery.max_attempts));
    if (delivery.first_failed) own.raw("Retryd-First-Failed", to_rfc3339(*delivery.first_failed));
    own.raw("Retryd-Deadline", to_rfc3339(delivery.deadline));
    own.escaped("Retryd-Exchange", delivery.exchange);
    own.escaped("Retryd-Routing-Key", delivery.routing_key);
    own.raw("Retryd-Redelivered", delivery.redelivered ? "true" : "false");
    const auto last_error = std::string_view(delivery.last_error).substr(0, longest_last_error);
    if (!last_error.empty()) own.escaped("Retryd-Last-Error", last_error);
    if (!delivery.fallback_for.empty()) own.raw("Retryd-Fallback-For", delivery.fallback_for);
}

void write_properties(OwnHeaders& own, const model::Properties& properties) {
    own.unchanged("Content-Type", properties.content_type);
    own.unchanged("Content-Encoding", properties.content_encoding);
    own.property("Amqp-Message-Id", properties.message_id);
    own.property("Amqp-Correlation-Id", properties.correlation_id);
    own.property("Amqp-Reply-To", properties.reply_to);
    own.property("Amqp-Type", properties.type);
    own.property("Amqp-App-Id", properties.app_id);
    own.property("Amqp-User-Id", properties.user_id);
    if (properties.timestamp) own.raw("Amqp-Timestamp", std::to_string(*properties.timestamp));
    if (properties.priority) own.raw("Amqp-Priority", std::to_string(*properties.priority));
    own.property("Amqp-Expiration", properties.expiration);
}

// Trace context keeps its name and its text; where that is unfit it goes like any other header.
bool is_trace_context(const model::HeaderView& header) {
    if (header.name != "traceparent" && header.name != "tracestate") return false;
    return header.value.type == 'S' && is_plain_value(model::content(header.value).value_or(std::string_view{}));
}

// The name under which an application header goes out.
std::string http_name(const model::HeaderView& header) {
    if (is_trace_context(header)) return std::string(header.name);
    std::string name = "Amqp-Header-";
    auto rest = header.name;
    for (const std::string_view prefix : {"cloudEvents:", "cloudEvents_"}) {
        if (!header.name.starts_with(prefix) || header.name.size() == prefix.size()) continue;
        name = "ce-";
        rest.remove_prefix(prefix.size());
    }
    append_escaped_name(name, rest);
    return name;
}

std::string http_line(const std::string& name, const model::HeaderView& header) {
    auto line = name + ": ";
    if (is_trace_context(header)) {
        line += model::content(header.value).value_or(std::string_view{});
    } else {
        append_header_value(line, header.value);
    }
    return line + "\r\n";
}

// The message's own headers, those that have room, in their order; a name that HTTP has seen already is left out.
struct ApplicationHeaders {
    std::vector<std::string> lines;
    std::size_t omitted = 0;
};

ApplicationHeaders application_headers(std::string_view table, const FixedHeaders& fixed) {
    ApplicationHeaders application;
    const auto headers = model::read_table(table);
    if (!headers) {
        application.omitted = 1;  // the table as a whole
        return application;
    }
    std::set<std::string> seen;
    for (const auto& header : *headers) {
        const auto name = http_name(header);
        if (is_fixed(fixed, name) || !seen.insert(lower_case(name)).second) {
            ++application.omitted;
        } else {
            application.lines.push_back(http_line(name, header));
        }
    }
    return application;
}

void omit_largest(ApplicationHeaders& application, std::size_t room) {
    auto& lines = application.lines;
    const auto add_size = [](std::size_t sum, const std::string& line) { return sum + line.size(); };
    auto size = std::accumulate(lines.begin(), lines.end(), std::size_t{0}, add_size);
    if (size <= room) return;
    std::vector<std::string*> largest_first;
    for (auto& line : lines) largest_first.push_back(&line);
    std::stable_sort(largest_first.begin(), largest_first.end(), [](auto* a, auto* b) { return a->size() > b->size(); });
    for (auto* line : largest_first) {
        if (size <= room) break;
        size -= line->size();
        line->clear();
        ++application.omitted;
    }
}

}  // namespace

std::string request_head(const ports::Delivery& delivery, const model::QueuePolicy& queue) {
    return request_head(delivery, queue, queue.deliver.http);
}

std::string request_head(const ports::Delivery& delivery, const model::QueuePolicy& queue, const model::HttpTarget& target) {
    const auto& fixed = queue.deliver.headers;
    OwnHeaders own(fixed);
    auto& head = own.lines();
    head.append("POST ").append(target.path).append(" HTTP/1.1\r\n");
    own.raw("Host", target.host);
    own.raw("Content-Length", std::to_string(delivery.message->body.size()));
    own.fixed();
    write_delivery(own, delivery, queue);
    const auto properties = model::read_properties(delivery.shown);
    ApplicationHeaders application;
    if (properties) {
        write_properties(own, *properties);
        application = application_headers(properties->headers.value_or(std::string_view{}), fixed);
    }
    const auto taken = head.size() + omitted_line + 2;
    omit_largest(application, taken < max_request_head ? max_request_head - taken : 0);
    for (const auto& line : application.lines) head += line;
    if (application.omitted > 0) own.raw(omitted_name, std::to_string(application.omitted));
    head += "\r\n";
    return std::move(head);
}

std::string ready_request(const model::DeliverPolicy& policy) {
    OwnHeaders own(policy.headers);
    own.lines().append("GET ").append(policy.ready->path).append(" HTTP/1.1\r\n");
    own.raw("Host", policy.http.host);
    own.raw("Connection", "close");
    own.fixed();
    return std::move(own.lines()) + "\r\n";
}

}  // namespace retryd::deliver
