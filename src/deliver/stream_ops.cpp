#include "deliver/stream_ops.hpp"

#include <boost/json/monotonic_resource.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <optional>

namespace retryd::deliver {
namespace {

namespace json = boost::json;

constexpr std::size_t deepest_header = 32;
constexpr std::size_t usual_document = 2048;  // bytes of memory
constexpr std::int64_t protocol_version = 1;
constexpr model::Milliseconds longest_span = std::chrono::years{100};  // beyond: as good as for ever, and safe to add

const json::value* member(const json::object& object, std::string_view name) {
    return object.if_contains(json::string_view(name.data(), name.size()));
}

std::string text(const json::object& object, std::string_view name) {
    const auto* const value = member(object, name);
    const auto* const string = value == nullptr ? nullptr : value->if_string();
    return string == nullptr ? std::string{} : std::string(string->data(), string->size());
}

// A whole number from zero on, whichever way it is spelled; nothing for anything else. Above 2^53 it is that: more than any
// number of ours, and the last up to which every one has a double of its own.
std::optional<std::int64_t> whole(const json::value* value) {
    constexpr double largest = 9007199254740992.0;
    if (value == nullptr || !value->is_number()) return std::nullopt;
    json::error_code error;
    const auto number = value->to_number<double>(error);
    if (error || !(number >= 0) || number != std::floor(number)) return std::nullopt;
    return static_cast<std::int64_t>(std::min(number, largest));
}

Breach bad_value(std::string_view op, std::string_view name) {
    return {"bad_value", std::string(op) + ": `" + std::string(name) + "` is not a whole number from 0 on"};
}

// Nothing where it is there and is no number to give.
std::optional<std::uint32_t> credit(const json::object& object, std::string_view name) {
    const auto* const value = member(object, name);
    if (value == nullptr || value->is_null()) return 0;
    const auto number = whole(value);
    if (!number) return std::nullopt;
    return static_cast<std::uint32_t>(std::min<std::int64_t>(*number, most_credit));
}

// A fraction waits to the next millisecond, and what no time can hold as long as any time can.
std::optional<model::RetryAfter> retry_after(const json::object& object) {
    const auto* const value = member(object, "retry_after_ms");
    if (value == nullptr || !value->is_number()) return std::nullopt;
    json::error_code error;
    const auto number = value->to_number<double>(error);
    if (error || !(number >= 0)) return std::nullopt;
    const bool too_large = number > static_cast<double>(longest_span.count());
    return model::RetryAfter{too_large ? longest_span : model::Milliseconds{std::llround(std::ceil(number))}, std::nullopt};
}

Breach no_id(std::string_view op) {
    return {"unknown_id", std::string(op) + " names no id of a message"};
}

ConsumerOp read_hello(const json::object& object) {
    const auto protocol = whole(member(object, "protocol"));
    if (protocol != protocol_version) return Breach{"unsupported_protocol", "hello: `protocol` must be 1"};
    const auto given = credit(object, "credit");
    if (!given) return bad_value("hello", "credit");
    return HelloOp{*given};
}

ConsumerOp read_reply(const json::object& object) {
    const auto id = whole(member(object, "id"));
    if (!id) return no_id("reply");
    const auto given = credit(object, "credit");
    if (!given) return bad_value("reply", "credit");
    ReplyOp op{static_cast<std::uint64_t>(*id), {}, *given};
    op.reply.stated = model::stated_outcome(text(object, "outcome"));
    op.reply.misstated = !op.reply.stated;
    op.reply.retry_after = retry_after(object);
    op.reply.dependency = text(object, "dependency");
    const auto* const error = member(object, "error");
    if (error != nullptr && error->is_object()) {
        op.reply.error_type = text(error->get_object(), "type");
        op.reply.error_message = text(error->get_object(), "message");
    }
    return op;
}

ConsumerOp read_credit(const json::object& object) {
    const auto given = credit(object, "n");
    if (!given) return bad_value("credit", "n");
    return CreditOp{*given};
}

ConsumerOp read_extend(const json::object& object) {
    const auto id = whole(member(object, "id"));
    if (!id) return no_id("extend");
    const auto more = whole(member(object, "ms"));
    if (!more) return bad_value("extend", "ms");
    return ExtendOp{static_cast<std::uint64_t>(*id), std::min(model::Milliseconds{*more}, longest_span)};
}

}  // namespace

ConsumerOp read_op(std::string_view header) {
    json::parse_options options;
    options.max_depth = deepest_header;
    json::error_code error;
    std::array<unsigned char, usual_document> room;  // most are read without an allocation
    json::monotonic_resource storage(room.data(), room.size());
    const auto document = json::parse(json::string_view(header.data(), header.size()), error, &storage, options);
    if (error) return Breach{"bad_json", "a frame's header is not JSON: " + error.message()};
    if (!document.is_object()) return Breach{"bad_json", "a frame's header is not a JSON object"};
    const auto& object = document.get_object();
    const auto op = text(object, "op");
    if (op == "reply") return read_reply(object);
    if (op == "credit") return read_credit(object);
    if (op == "hello") return read_hello(object);
    if (op == "extend") return read_extend(object);
    if (op == "pong") return PongOp{};
    if (op == "leave") return LeaveOp{};
    return Breach{"unknown_op",
                  op.empty() ? "a frame's header has no `op`" : "nobody knows the op \"" + op.substr(0, 64) + "\""};
}

}  // namespace retryd::deliver
