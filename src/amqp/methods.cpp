#include "amqp/methods.hpp"

#include <charconv>
#include <vector>

namespace retryd::amqp {

namespace {

constexpr ChannelNumber connection_channel = 0;

// The arguments of queue.declare, put together one by one. Holds views: it must not outlive the spec.
class Arguments {
public:
    void add(const char* name, std::string_view value) {
        amqp_field_value_t& field = next(name);
        field.kind = AMQP_FIELD_KIND_UTF8;
        field.value.bytes = lend(value);
    }
    void add(const char* name, std::int64_t value) {
        amqp_field_value_t& field = next(name);
        field.kind = AMQP_FIELD_KIND_I64;
        field.value.i64 = value;
    }
    [[nodiscard]] amqp_table_t table() { return {static_cast<int>(entries_.size()), entries_.data()}; }

private:
    amqp_field_value_t& next(const char* name) {
        amqp_table_entry_t& entry = entries_.emplace_back();
        entry.key = amqp_cstring_bytes(name);
        return entry.value;
    }
    std::vector<amqp_table_entry_t> entries_;
};

int major_version(std::string_view version) {
    int major = 0;
    std::from_chars(version.data(), version.data() + version.size(), major);
    return major;
}

Arguments arguments_of(const model::QueueSpec& spec, std::string_view broker_version) {
    const bool quorum = spec.type == model::QueueType::quorum;
    Arguments arguments;
    arguments.add("x-queue-type", quorum ? "quorum" : "classic");
    if (spec.ttl) {
        arguments.add("x-message-ttl", spec.ttl->count());
        arguments.add("x-dead-letter-exchange", "");
        arguments.add("x-dead-letter-routing-key", spec.dead_letter_to.value);
    }
    if (spec.ttl && quorum) {  // without reject-publish the broker accepts at-least-once, and does not keep it
        arguments.add("x-dead-letter-strategy", "at-least-once");
        arguments.add("x-overflow", "reject-publish");
    }
    // From 4.0 on a quorum queue drops what came back 20 times; a 3.x takes the -1 for a limit that the first return exceeds.
    if (quorum && major_version(broker_version) >= 4) arguments.add("x-delivery-limit", std::int64_t{-1});
    return arguments;
}

}  // namespace

void open_channel(Connection& connection, ChannelNumber channel) {
    amqp_channel_open_t method{};
    connection.send(channel, AMQP_CHANNEL_OPEN_METHOD, &method);
}

void accept_channel_close(Connection& connection, ChannelNumber channel) {
    amqp_channel_close_ok_t method{};
    connection.send(channel, AMQP_CHANNEL_CLOSE_OK_METHOD, &method);
}

void set_prefetch(Connection& connection, ChannelNumber channel, std::uint16_t prefetch) {
    amqp_basic_qos_t method{};
    method.prefetch_count = prefetch;
    connection.send(channel, AMQP_BASIC_QOS_METHOD, &method);
}

void consume(Connection& connection, ChannelNumber channel, std::string_view queue, std::string_view consumer_tag) {
    amqp_basic_consume_t method{};
    method.queue = lend(queue);
    method.consumer_tag = lend(consumer_tag);
    connection.send(channel, AMQP_BASIC_CONSUME_METHOD, &method);
}

void cancel(Connection& connection, ChannelNumber channel, std::string_view consumer_tag) {
    amqp_basic_cancel_t method{};
    method.consumer_tag = lend(consumer_tag);
    connection.send(channel, AMQP_BASIC_CANCEL_METHOD, &method);
}

void nack_with_requeue(Connection& connection, ChannelNumber channel, std::uint64_t tag) {
    amqp_basic_nack_t method{};
    method.delivery_tag = tag;
    method.requeue = 1;
    connection.send(channel, AMQP_BASIC_NACK_METHOD, &method);
}

void declare_passively(Connection& connection, ChannelNumber channel, std::string_view queue) {
    amqp_queue_declare_t method{};
    method.queue = lend(queue);
    method.passive = 1;
    connection.send(channel, AMQP_QUEUE_DECLARE_METHOD, &method);
}

void declare(Connection& connection, ChannelNumber channel, const model::QueueSpec& spec) {
    Arguments arguments = arguments_of(spec, connection.broker_version());
    amqp_queue_declare_t method{};
    method.queue = lend(spec.name.value);
    method.durable = 1;
    method.arguments = arguments.table();
    connection.send(channel, AMQP_QUEUE_DECLARE_METHOD, &method);
}

void select_confirms(Connection& connection, ChannelNumber channel) {
    amqp_confirm_select_t method{};
    connection.send(channel, AMQP_CONFIRM_SELECT_METHOD, &method);
}

void close_connection(Connection& connection) {
    amqp_connection_close_t method{};
    method.reply_code = AMQP_REPLY_SUCCESS;
    connection.send(connection_channel, AMQP_CONNECTION_CLOSE_METHOD, &method);
}

void accept_connection_close(Connection& connection) {
    amqp_connection_close_ok_t method{};
    connection.send(connection_channel, AMQP_CONNECTION_CLOSE_OK_METHOD, &method);
}

}  // namespace retryd::amqp
