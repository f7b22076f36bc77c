#pragma once
// The frames that are sent for every message, as bytes: acks, and publishes with their content. Pure.
//
// The library would send each of them by a system call of its own, and would take the properties apart and put them together
// again. Here they are appended to one buffer, which is sent at once.

#include "amqp/incoming.hpp"
#include "amqp/settle.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace retryd::amqp {

// What a frame has beside its payload, and a header frame's payload beside the properties; bytes.
inline constexpr std::size_t frame_overhead = 8;
inline constexpr std::size_t header_overhead = 12;

void append_ack(std::string& out, ChannelNumber channel, const Ack& ack);

// A publish, mandatory, through the default exchange, up to its body: the method and the header that announces `body_size`.
// `queue` is a short string, `properties` are as Message::properties.
void append_publish(std::string& out, ChannelNumber channel, std::string_view queue, std::string_view properties,
                    std::uint64_t body_size);
// A part of the body, none of them empty; with its overhead at most the negotiated frame_max.
void append_body(std::string& out, ChannelNumber channel, std::string_view part);

}  // namespace retryd::amqp
