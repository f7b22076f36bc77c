#include "amqp/frames.hpp"

#include "amqp/library.hpp"

namespace retryd::amqp {

namespace {

void append_number(std::string& out, std::uint64_t value, std::size_t size) {
    while (size-- > 0) out += static_cast<char>(value >> (8 * size) & 0xff);
}

void begin_frame(std::string& out, int type, ChannelNumber channel, std::size_t payload_size) {
    append_number(out, static_cast<std::uint64_t>(type), 1);
    append_number(out, channel, 2);
    append_number(out, payload_size, 4);
}

void end_frame(std::string& out) {
    out += static_cast<char>(AMQP_FRAME_END);
}

void append_short_string(std::string& out, std::string_view text) {
    append_number(out, text.size(), 1);
    out += text;
}

}  // namespace

void append_ack(std::string& out, ChannelNumber channel, const Ack& ack) {
    constexpr std::size_t size = 4 + 8 + 1;
    begin_frame(out, AMQP_FRAME_METHOD, channel, size);
    append_number(out, AMQP_BASIC_ACK_METHOD, 4);
    append_number(out, ack.tag, 8);
    append_number(out, ack.multiple ? 1 : 0, 1);
    end_frame(out);
}

void append_publish(std::string& out, ChannelNumber channel, std::string_view queue, std::string_view properties,
                    std::uint64_t body_size) {
    constexpr std::uint64_t mandatory = 1;
    constexpr std::size_t size_without_queue = 4 + 2 + 1 + 1 + 1;
    begin_frame(out, AMQP_FRAME_METHOD, channel, size_without_queue + queue.size());
    append_number(out, AMQP_BASIC_PUBLISH_METHOD, 4);
    append_number(out, 0, 2);  // reserved
    append_short_string(out, {});
    append_short_string(out, queue);
    append_number(out, mandatory, 1);
    end_frame(out);

    begin_frame(out, AMQP_FRAME_HEADER, channel, header_overhead + properties.size());
    append_number(out, AMQP_BASIC_CLASS, 2);
    append_number(out, 0, 2);  // weight
    append_number(out, body_size, 8);
    out += properties;
    end_frame(out);
}

void append_body(std::string& out, ChannelNumber channel, std::string_view part) {
    begin_frame(out, AMQP_FRAME_BODY, channel, part.size());
    out += part;
    end_frame(out);
}

}  // namespace retryd::amqp
