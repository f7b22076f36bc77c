#pragma once
// The AMQP methods that we send. None of them waits: the answers come as frames, in order on each channel.

#include "amqp/connection.hpp"
#include "amqp/incoming.hpp"
#include "model/tiers.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace retryd::amqp {

// Names travel as short strings; the library would cut the length of a longer one.
[[nodiscard]] inline bool is_short_string(std::string_view name) {
    return name.size() <= 255;
}

void open_channel(Connection& connection, ChannelNumber channel);
// The answer to the broker's channel.close. Then the number may be opened again.
void accept_channel_close(Connection& connection, ChannelNumber channel);

void set_prefetch(Connection& connection, ChannelNumber channel, std::uint16_t prefetch);
void consume(Connection& connection, ChannelNumber channel, std::string_view queue, std::string_view consumer_tag);
void cancel(Connection& connection, ChannelNumber channel, std::string_view consumer_tag);
void nack_with_requeue(Connection& connection, ChannelNumber channel, std::uint64_t tag);

void declare_passively(Connection& connection, ChannelNumber channel, std::string_view queue);
void declare(Connection& connection, ChannelNumber channel, const model::QueueSpec& spec);

void select_confirms(Connection& connection, ChannelNumber channel);

void close_connection(Connection& connection);
void accept_connection_close(Connection& connection);

}  // namespace retryd::amqp
