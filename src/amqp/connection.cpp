#include "amqp/connection.hpp"

#include "amqp/frames.hpp"
#include "amqp/send.hpp"

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <utility>

namespace retryd::amqp {

namespace {

constexpr int wanted_frame_max = 131072;
constexpr int wanted_channel_max = 2047;
constexpr std::size_t much = 64 * 1024;   // bytes that are sent without waiting for more
constexpr const char* nobody_else = " ";  // whom EXTERNAL shall take us for; the library can't send nothing

amqp_table_entry_t flag(const char* name) {
    amqp_table_entry_t entry{};
    entry.key = amqp_cstring_bytes(name);
    entry.value.kind = AMQP_FIELD_KIND_BOOLEAN;
    entry.value.value.boolean = 1;
    return entry;
}

amqp_table_entry_t text(const char* name, std::string_view value) {
    amqp_table_entry_t entry{};
    entry.key = amqp_cstring_bytes(name);
    entry.value.kind = AMQP_FIELD_KIND_UTF8;
    entry.value.value.bytes = lend(value);
    return entry;
}

std::string server_version(amqp_connection_state_t state) {
    const amqp_table_t& said = *amqp_get_server_properties(state);
    for (int i = 0; i < said.num_entries; ++i) {
        const amqp_table_entry_t& entry = said.entries[i];
        if (view(entry.key) == "version" && entry.value.kind == AMQP_FIELD_KIND_UTF8)
            return std::string{view(entry.value.value.bytes)};
    }
    return {};
}

}  // namespace

Connection::Connection() : state_(amqp_new_connection()) {}

model::Result<std::unique_ptr<Connection>> Connection::open(const model::BrokerAddress& address,
                                                            const model::BrokerPolicy& policy, const Introduction& introduction,
                                                            Exit& exit) {
    std::unique_ptr<Connection> connection{new Connection};
    if (auto connected = connection->connect(address, policy, exit); !connected) return connected.error();
    if (auto in = connection->log_in(address, policy, introduction); !in) return in.error();
    return connection;
}

model::Result<void> Connection::connect(const model::BrokerAddress& address, const model::BrokerPolicy& policy, Exit& exit) {
    using namespace std::chrono_literals;
    const auto stuck_after = std::max<model::Milliseconds>(10s, 2 * policy.heartbeat);
    if (address.tls) {
        tls_ = std::make_unique<TlsSocket>(address, policy.tls, stuck_after, exit);
        return tls_->open(state_.get(), policy.connect_timeout);
    }
    auto socket = dial(address.host, address.port, policy.connect_timeout, stuck_after, exit);
    if (!socket) return socket.error();
    amqp_tcp_socket_set_sockfd(amqp_tcp_socket_new(state_.get()), socket->release());
    return {};
}

model::Result<void> Connection::log_in(const model::BrokerAddress& address, const model::BrokerPolicy& policy,
                                       const Introduction& introduction) {
    const timeval bound = to_timeval(policy.connect_timeout);
    amqp_set_handshake_timeout(state_.get(), &bound);
    amqp_set_rpc_timeout(state_.get(), &bound);
    // Without these two the broker is silent about a deleted queue and about its alarms.
    std::array capabilities{flag("consumer_cancel_notify"), flag("connection.blocked")};
    std::array properties{text("product", "retryd"), text("version", introduction.version),
                          text("connection_name", introduction.connection_name), amqp_table_entry_t{}};
    properties.back().key = amqp_cstring_bytes("capabilities");
    properties.back().value.kind = AMQP_FIELD_KIND_TABLE;
    properties.back().value.value.table = {static_cast<int>(capabilities.size()), capabilities.data()};
    const amqp_table_t introduced{static_cast<int>(properties.size()), properties.data()};
    const amqp_rpc_reply_t reply = introduce(address, policy, introduced);
    if (reply.reply_type != AMQP_RESPONSE_NORMAL) return login_problem(reply);
    broker_version_ = server_version(state_.get());
    frame_max_ = static_cast<std::uint32_t>(amqp_get_frame_max(state_.get()));
    return {};
}

amqp_rpc_reply_t Connection::introduce(const model::BrokerAddress& address, const model::BrokerPolicy& policy,
                                       const amqp_table_t& properties) {
    const auto heartbeat = static_cast<int>(policy.heartbeat.count());
    if (policy.auth == model::BrokerAuth::external)
        return amqp_login_with_properties(state_.get(), address.vhost.c_str(), wanted_channel_max, wanted_frame_max, heartbeat,
                                          &properties, AMQP_SASL_METHOD_EXTERNAL, nobody_else);
    return amqp_login_with_properties(state_.get(), address.vhost.c_str(), wanted_channel_max, wanted_frame_max, heartbeat,
                                      &properties, AMQP_SASL_METHOD_PLAIN, address.user.c_str(), address.password.c_str());
}

// The broker's own answer to a login, where there is one: it closes the connection with a code and a sentence.
model::Problem Connection::login_problem(const amqp_rpc_reply_t& reply) {
    if (reply.reply_type == AMQP_RESPONSE_SERVER_EXCEPTION && reply.reply.id == AMQP_CONNECTION_CLOSE_METHOD) {
        const auto& close = *static_cast<const amqp_connection_close_t*>(reply.reply.decoded);
        const bool refused = close.reply_code == AMQP_ACCESS_REFUSED || close.reply_code == AMQP_NOT_ALLOWED;
        const auto code = refused ? model::ProblemCode::refused : model::ProblemCode::unavailable;
        return {code, {}, std::to_string(close.reply_code) + " " + std::string{view(close.reply_text)}, {}};
    }
    if (reply.library_error == AMQP_STATUS_BROKER_UNSUPPORTED_SASL_METHOD)
        return {model::ProblemCode::refused, {}, "the broker does not offer the way of login that broker.auth asks for", {}};
    model::Problem problem =
        tls_ ? tls_->problem(reply.library_error)
             : model::Problem{model::ProblemCode::unavailable, {}, amqp_error_string2(reply.library_error), {}};
    if (problem.code == model::ProblemCode::unavailable) problem.what = "login: " + problem.what;
    return problem;
}

void Connection::read_larger_frames() {
    check(amqp_tune_connection(state_.get(), amqp_get_channel_max(state_.get()), 2 * amqp_get_frame_max(state_.get()),
                               amqp_get_heartbeat(state_.get())));
}

ChannelNumber Connection::channel_max() const {
    return static_cast<ChannelNumber>(amqp_get_channel_max(state_.get()));
}

std::chrono::seconds Connection::heartbeat() const {
    return std::chrono::seconds{amqp_get_heartbeat(state_.get())};
}

Descriptor Connection::duplicate() const {
    return Descriptor{::fcntl(amqp_get_sockfd(state_.get()), F_DUPFD_CLOEXEC, 0)};
}

bool Connection::read(amqp_frame_t& frame) {
    if (failed()) return false;
    const timeval at_once{0, 0};
    const int status = amqp_simple_wait_frame_noblock(state_.get(), &frame, &at_once);
    if (status == AMQP_STATUS_TIMEOUT) return false;
    check(status);
    return status == AMQP_STATUS_OK;
}

bool Connection::has_unread() const {
    return tls_ != nullptr || amqp_frames_enqueued(state_.get()) != 0 || amqp_data_in_buffer(state_.get()) != 0;
}

void Connection::release(ChannelNumber channel) {
    amqp_maybe_release_buffers_on_channel(state_.get(), channel);
}

void Connection::release_all() {
    if (!failed()) amqp_maybe_release_buffers(state_.get());
}

void Connection::send(ChannelNumber channel, amqp_method_number_t method, void* arguments) {
    flush();
    if (!failed()) check(amqp_send_method(state_.get(), channel, method, arguments));
}

void Connection::ack(ChannelNumber channel, const Ack& ack) {
    append_ack(gathered_, channel, ack);
    flush_if_much();
}

void Connection::publish(ChannelNumber channel, std::string_view queue, std::string_view properties, std::string_view body) {
    append_publish(gathered_, channel, queue, properties, body.size());
    flush_if_much();
    while (!body.empty()) {
        const auto part = body.substr(0, frame_max_ - frame_overhead);
        append_body(gathered_, channel, part);
        flush_if_much();
        body.remove_prefix(part.size());
    }
}

void Connection::flush_if_much() {
    if (gathered_.size() >= much) flush();
}

void Connection::flush() {
    if (!failed() && !gathered_.empty()) {
        const auto sent = tls_ ? tls_->send(gathered_) : send_all(amqp_get_sockfd(state_.get()), gathered_);
        if (!sent) fail(sent.error().what);
    }
    gathered_.clear();
}

void Connection::check(int status) {
    if (status != AMQP_STATUS_OK) fail(tls_ ? tls_->problem(status).what : amqp_error_string2(status));
}

void Connection::fail(std::string why) {
    if (!failed()) trouble_ = std::move(why);
}

}  // namespace retryd::amqp
