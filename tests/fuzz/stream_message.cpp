// What a message becomes on the stream: one frame with the lengths that it says, its header a JSON object that says what the
// message is, whatever its names and values are.

#include "deliver/stream_message.hpp"
#include "fuzz/input.hpp"
#include "fuzz/json.hpp"
#include "fuzz/messages.hpp"
#include "model/header_json.hpp"

using namespace retryd;
using fuzz::require;

namespace {

namespace json = boost::json;

void require_same(const json::object& object, const char* name, const std::optional<std::string_view>& original) {
    const auto* const value = object.if_contains(name);
    require((value != nullptr) == original.has_value(), "a text is there when the message has it");
    if (value == nullptr) return;
    if (model::is_utf8(*original)) return require(fuzz::text_of(*value) == *original, "text is shown as it is");
    const auto& bytes = value->as_object().at("$bytes");
    require(fuzz::text_of(bytes) == model::to_base64(*original), "what is no text is shown as bytes");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::Input in(data, size);
    const model::QueueName queue{std::string(in.text())};
    const auto delivery = fuzz::delivery(in);
    const auto frame = deliver::message_frame(delivery, 17, queue);

    fuzz::Input lengths(reinterpret_cast<const std::uint8_t*>(frame.data()), frame.size());
    const auto header_size = lengths.number(4);
    require(lengths.number(4) == delivery.message->body.size(), "the body's length is the body's");
    const auto header = lengths.rest();
    require(header.size() == header_size && header_size <= deliver::max_frame_header, "the header's length is the header's");

    const auto document = fuzz::parsed(header);
    const auto& object = document.as_object();
    require(fuzz::text_of(object.at("op")) == "message" && object.at("id").as_int64() == 17, "a message is a message");
    require_same(object, "queue", queue.value);
    require_same(object, "exchange", delivery.exchange);
    require_same(object, "routing_key", delivery.routing_key);
    require_same(object, "idempotency_key", delivery.idempotency_key);
    require(object.at("headers").is_object(), "headers are an object");
    const auto properties = model::read_properties(delivery.shown);
    const auto& shown = object.at("properties").as_object();
    if (!properties) return 0;
    require_same(shown, "content_type", properties->content_type);
    require_same(shown, "message_id", properties->message_id);
    require_same(shown, "type", properties->type);
    require_same(shown, "cluster_id", properties->cluster_id);
    return 0;
}
