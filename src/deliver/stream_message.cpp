#include "deliver/stream_message.hpp"

#include "deliver/http_date.hpp"
#include "model/header_json.hpp"
#include "model/header_table.hpp"
#include "model/ledger.hpp"
#include "model/properties.hpp"

#include <charconv>
#include <optional>
#include <string_view>

namespace retryd::deliver {
namespace {

constexpr std::size_t longest_last_error = 512;
constexpr std::size_t usual_header = 512;

// Writes a JSON object member by member at the end of a text.
class Object {
public:
    explicit Object(std::string& out) : out_(out) { out_ += '{'; }
    Object(const Object&) = delete;
    Object& operator=(const Object&) = delete;
    ~Object() { out_ += '}'; }

    // The name is a constant of the protocol; the value follows.
    std::string& member(std::string_view name) {
        (first_ ? out_ : out_ += ',').append(1, '"').append(name).append("\":");
        first_ = false;
        return out_;
    }
    void word(std::string_view name, std::string_view value) { model::append_json_string(member(name), value); }
    // What came from outside.
    void text(std::string_view name, std::string_view value) {
        if (model::is_utf8(value)) return word(name, value);
        member(name).append(R"({"$bytes":")").append(model::to_base64(value)).append(R"("})");
    }
    void text(std::string_view name, const std::optional<std::string_view>& value) {
        if (value) text(name, *value);
    }
    void number(std::string_view name, std::uint64_t value) { member(name) += std::to_string(value); }
    void number(std::string_view name, const std::optional<std::uint64_t>& value) {
        if (value) number(name, *value);
    }
    void flag(std::string_view name, bool value) { member(name) += value ? "true" : "false"; }

private:
    std::string& out_;
    bool first_ = true;
};

void write_properties(std::string& out, const model::Properties& properties) {
    Object object(out);
    object.text("content_type", properties.content_type);
    object.text("content_encoding", properties.content_encoding);
    object.number("delivery_mode", properties.delivery_mode);
    object.number("priority", properties.priority);
    object.text("correlation_id", properties.correlation_id);
    object.text("reply_to", properties.reply_to);
    object.text("expiration", properties.expiration);
    object.text("message_id", properties.message_id);
    object.number("timestamp", properties.timestamp);
    object.text("type", properties.type);
    object.text("user_id", properties.user_id);
    object.text("app_id", properties.app_id);
    object.text("cluster_id", properties.cluster_id);
}

// Nothing where the table can't be read.
std::optional<std::string> headers_json(std::string_view table) {
    const auto headers = model::read_table(table);
    if (!headers) return std::nullopt;
    std::string out = "{";
    for (const auto& header : *headers) {
        if (out.size() > 1) out += ',';
        model::append_json_string(out, header.name);
        out += ':';
        model::append_json(out, header.value);
    }
    return out += '}';
}

void write_delivery(Object& object, const ports::Delivery& delivery) {
    object.number("attempt", delivery.attempt);
    object.number("max_attempts", delivery.max_attempts);
    if (delivery.first_failed) object.word("first_failed", to_rfc3339(*delivery.first_failed));
    object.word("deadline", to_rfc3339(delivery.deadline));
    object.flag("redelivered", delivery.redelivered);
    object.text("exchange", std::string_view(delivery.exchange));
    object.text("routing_key", std::string_view(delivery.routing_key));
    object.text("idempotency_key", std::string_view(delivery.idempotency_key));
    if (!delivery.last_error.empty()) object.word("last_error", model::cut_text(delivery.last_error, longest_last_error));
}

void write_headers(Object& object, const std::string& frame, std::string_view table) {
    constexpr std::size_t ending = 64;  // the names, brackets and the word that it was left out
    const auto json = headers_json(table);
    const bool fits = json && frame.size() + json->size() + ending <= max_frame_header;
    object.member("headers") += fits ? *json : "{}";
    if (!fits) object.flag("headers_omitted", true);
}

std::string one_word(std::string_view op) {
    auto frame = begin_frame();
    Object(frame).word("op", op);
    end_frame(frame, 0);
    return frame;
}

}  // namespace

std::string message_frame(const ports::Delivery& delivery, std::uint64_t id, const model::QueueName& queue) {
    auto frame = begin_frame();
    frame.reserve(usual_header + delivery.shown.size());
    {
        const auto read = model::read_properties(delivery.shown);
        const auto properties = read ? *read : model::Properties{};
        Object object(frame);
        object.word("op", "message");
        object.number("id", id);
        object.text("queue", std::string_view(queue.value));
        write_delivery(object, delivery);
        write_properties(object.member("properties"), properties);
        write_headers(object, frame, properties.headers.value_or(std::string_view{}));
    }
    end_frame(frame, delivery.message->body.size());
    return frame;
}

std::string welcome_frame(const model::QueueName& queue, model::ByteCount max_body, model::Milliseconds timeout) {
    auto frame = begin_frame();
    {
        Object object(frame);
        object.word("op", "welcome");
        object.number("protocol", 1U);
        object.text("queue", std::string_view(queue.value));
        object.number("max_header", max_frame_header);
        object.number("max_body", max_body.value);
        object.number("timeout_ms", static_cast<std::uint64_t>(timeout.count()));
    }
    end_frame(frame, 0);
    return frame;
}

std::string ping_frame() {
    return one_word("ping");
}

std::string drain_frame() {
    return one_word("drain");
}

std::string error_frame(const Breach& breach) {
    auto frame = begin_frame();
    {
        Object object(frame);
        object.word("op", "error");
        object.word("code", breach.code);
        object.word("message", breach.message);
    }
    end_frame(frame, 0);
    return frame;
}

}  // namespace retryd::deliver
