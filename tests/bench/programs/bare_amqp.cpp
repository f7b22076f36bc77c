#include "programs/bare_amqp.hpp"

#include "programs/options.hpp"

namespace retryd::bench {
namespace {

constexpr amqp_channel_t channel = 1;
constexpr int frame_max = 131072;
constexpr timeval no_time{0, 0};

void check(const amqp_rpc_reply_t& reply, const char* what) {
    if (reply.reply_type == AMQP_RESPONSE_NORMAL) return;
    const bool refused = reply.reply_type == AMQP_RESPONSE_SERVER_EXCEPTION;
    give_up(what, refused ? "the broker refused it" : amqp_error_string2(reply.library_error));
}

void check(int status, const char* what) {
    if (status != AMQP_STATUS_OK) give_up(what, amqp_error_string2(status));
}

}  // namespace

void Unconfirmed::confirmed(std::uint64_t number, bool multiple) {
    if (number < first_) return;
    const auto last = static_cast<std::ptrdiff_t>(number - first_);
    if (multiple) std::fill(open_.begin(), open_.begin() + last, false);
    open_[static_cast<std::size_t>(last)] = false;
    while (!open_.empty() && !open_.front()) {
        open_.pop_front();
        ++first_;
    }
}

BareAmqp::BareAmqp(const std::string& uri) : connection_(amqp_new_connection()) {
    std::string text = uri;  // the parser writes into it
    amqp_connection_info to{};
    check(amqp_parse_url(text.data(), &to), "the URI");
    auto* const socket = amqp_tcp_socket_new(connection_);
    check(amqp_socket_open(socket, to.host, to.port), "connect");
    const char* const vhost = *to.vhost == '\0' ? "/" : to.vhost;  // as everybody else reads amqp://host/
    check(amqp_login(connection_, vhost, 0, frame_max, 0, AMQP_SASL_METHOD_PLAIN, to.user, to.password), "login");
    amqp_channel_open(connection_, channel);
    check(amqp_get_rpc_reply(connection_), "channel.open");
}

BareAmqp::~BareAmqp() {
    amqp_connection_close(connection_, AMQP_REPLY_SUCCESS);
    amqp_destroy_connection(connection_);
}

void BareAmqp::consume(const std::string& queue, std::uint64_t prefetch) {
    amqp_basic_qos(connection_, channel, 0, static_cast<std::uint16_t>(prefetch), 0);
    check(amqp_get_rpc_reply(connection_), "basic.qos");
    amqp_basic_consume(connection_, channel, amqp::lend(queue), amqp_empty_bytes, 0, 0, 0, amqp_empty_table);
    check(amqp_get_rpc_reply(connection_), "basic.consume");
}

std::optional<Delivered> BareAmqp::take_delivery(const timeval* patience) {
    amqp_maybe_release_buffers(connection_);
    amqp_envelope_t envelope;
    const auto reply = amqp_consume_message(connection_, &envelope, patience, 0);
    const bool nothing = reply.reply_type == AMQP_RESPONSE_LIBRARY_EXCEPTION && reply.library_error == AMQP_STATUS_TIMEOUT &&
                         patience != nullptr;
    if (nothing) return std::nullopt;
    check(reply, "consuming");
    return Delivered(envelope);
}

Delivered BareAmqp::next() {
    return std::move(*take_delivery(nullptr));
}

std::optional<Delivered> BareAmqp::next_if_there() {
    return take_delivery(&no_time);
}

void BareAmqp::ack_up_to(std::uint64_t tag) {
    check(amqp_basic_ack(connection_, channel, tag, 1), "basic.ack");
}

void BareAmqp::confirm_publishes() {
    amqp_confirm_select(connection_, channel);
    check(amqp_get_rpc_reply(connection_), "confirm.select");
}

void BareAmqp::publish(const std::string& queue, const amqp_basic_properties_t& properties, std::string_view body) {
    const auto key = amqp::lend(queue);
    check(amqp_basic_publish(connection_, channel, amqp_empty_bytes, key, 1, 0, &properties, amqp::lend(body)), "publish");
    unconfirmed_.published();
}

bool BareAmqp::take_frame(const timeval* patience) {
    amqp_maybe_release_buffers(connection_);
    amqp_frame_t frame;
    const int status = amqp_simple_wait_frame_noblock(connection_, &frame, patience);
    if (status == AMQP_STATUS_TIMEOUT) return false;
    check(status, "reading");
    if (frame.frame_type != AMQP_FRAME_METHOD) return true;
    if (frame.payload.method.id != AMQP_BASIC_ACK_METHOD) give_up("the broker did not take what was published");
    const auto& ack = *static_cast<const amqp_basic_ack_t*>(frame.payload.method.decoded);
    unconfirmed_.confirmed(ack.delivery_tag, ack.multiple != 0);
    return true;
}

void BareAmqp::wait_for_confirms() {
    (void)take_frame(nullptr);
    (void)take_confirms();
}

bool BareAmqp::take_confirms() {
    bool any = false;
    while (take_frame(&no_time)) any = true;
    return any;
}

}  // namespace retryd::bench
