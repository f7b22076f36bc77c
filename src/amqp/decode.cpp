#include "amqp/decode.hpp"

#include <string>

namespace retryd::amqp {

namespace {

template <class Method>
const Method& as(const amqp_method_t& method) {
    return *static_cast<const Method*>(method.decoded);
}

std::string text(const amqp_bytes_t& bytes) {
    return std::string{view(bytes)};
}

Incoming begin_deliver(ChannelNumber channel, const amqp_basic_deliver_t& method, Assembler& assembler) {
    Deliver deliver{channel, method.delivery_tag, {}, nullptr};
    deliver.arrival = {text(method.exchange), text(method.routing_key), method.redelivered != 0};
    return assembler.begin(std::move(deliver));
}

Incoming begin_return(ChannelNumber channel, const amqp_basic_return_t& method, Assembler& assembler) {
    return assembler.begin(Return{channel, method.reply_code, text(method.reply_text), text(method.routing_key), {}});
}

Incoming decode_channel_close(ChannelNumber channel, const amqp_channel_close_t& method, Assembler& assembler) {
    assembler.forget(channel);
    return ChannelClose{channel, method.reply_code, text(method.reply_text)};
}

Incoming decode_method(ChannelNumber channel, const amqp_method_t& method, Assembler& assembler) {
    switch (method.id) {
        case AMQP_BASIC_DELIVER_METHOD: return begin_deliver(channel, as<amqp_basic_deliver_t>(method), assembler);
        case AMQP_BASIC_RETURN_METHOD: return begin_return(channel, as<amqp_basic_return_t>(method), assembler);
        case AMQP_BASIC_ACK_METHOD: {
            const auto& ack = as<amqp_basic_ack_t>(method);
            return Confirm{channel, ack.delivery_tag, ack.multiple != 0, true};
        }
        case AMQP_BASIC_NACK_METHOD: {
            const auto& nack = as<amqp_basic_nack_t>(method);
            return Confirm{channel, nack.delivery_tag, nack.multiple != 0, false};
        }
        case AMQP_BASIC_CONSUME_OK_METHOD: return ConsumeOk{channel, text(as<amqp_basic_consume_ok_t>(method).consumer_tag)};
        case AMQP_BASIC_CANCEL_OK_METHOD: return CancelOk{channel, text(as<amqp_basic_cancel_ok_t>(method).consumer_tag)};
        case AMQP_BASIC_CANCEL_METHOD: return Cancel{channel, text(as<amqp_basic_cancel_t>(method).consumer_tag)};
        case AMQP_QUEUE_DECLARE_OK_METHOD: {
            const auto& declared = as<amqp_queue_declare_ok_t>(method);
            return DeclareOk{channel, declared.message_count, declared.consumer_count};
        }
        case AMQP_CHANNEL_CLOSE_METHOD: return decode_channel_close(channel, as<amqp_channel_close_t>(method), assembler);
        case AMQP_CONNECTION_CLOSE_METHOD: {
            const auto& close = as<amqp_connection_close_t>(method);
            return ConnectionClose{close.reply_code, text(close.reply_text)};
        }
        case AMQP_CONNECTION_CLOSE_OK_METHOD: return ConnectionCloseOk{};
        case AMQP_CONNECTION_BLOCKED_METHOD: return ConnectionBlocked{text(as<amqp_connection_blocked_t>(method).reason)};
        case AMQP_CONNECTION_UNBLOCKED_METHOD: return ConnectionUnblocked{};
        default: return Nothing{};
    }
}

}  // namespace

Incoming decode(const amqp_frame_t& frame, Assembler& assembler) {
    switch (frame.frame_type) {
        case AMQP_FRAME_METHOD: return decode_method(frame.channel, frame.payload.method, assembler);
        case AMQP_FRAME_HEADER: {
            const auto& header = frame.payload.properties;
            return assembler.header(frame.channel, header.body_size, view(header.raw));
        }
        case AMQP_FRAME_BODY: return assembler.body(frame.channel, view(frame.payload.body_fragment));
        default: return Nothing{};
    }
}

}  // namespace retryd::amqp
