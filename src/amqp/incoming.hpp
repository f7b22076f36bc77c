#pragma once
// What the broker says, one value for each thing: the methods of AMQP 0-9-1 that can reach us, with their content.

#include "model/message.hpp"

#include <cstdint>
#include <string>
#include <variant>

namespace retryd::amqp {

using ChannelNumber = std::uint16_t;

// --- a method with content: the message follows in a header frame and body frames on the same channel
struct Deliver {
    ChannelNumber channel = 0;
    std::uint64_t tag = 0;
    model::Arrival arrival;
    model::MessagePtr message;
};
struct Return {  // an unroutable mandatory copy comes back, before its confirm
    ChannelNumber channel = 0;
    std::uint16_t code = 0;
    std::string text;
    std::string routing_key;
    std::string properties;  // the body that comes with it is thrown away
};

// --- methods without content
struct ConsumeOk {
    ChannelNumber channel = 0;
    std::string consumer_tag;
};
struct CancelOk {
    ChannelNumber channel = 0;
    std::string consumer_tag;
};
struct Cancel {  // the broker ends a subscription by itself
    ChannelNumber channel = 0;
    std::string consumer_tag;
};
struct DeclareOk {
    ChannelNumber channel = 0;
    std::uint32_t messages = 0;  // ready
    std::uint32_t consumers = 0;
};
struct Confirm {  // basic.ack or basic.nack for what we published
    ChannelNumber channel = 0;
    std::uint64_t tag = 0;
    bool multiple = false;  // and every lower one
    bool ack = true;
};
struct ChannelClose {
    ChannelNumber channel = 0;
    std::uint16_t code = 0;
    std::string text;
};
struct ConnectionClose {
    std::uint16_t code = 0;
    std::string text;
};
struct ConnectionCloseOk {};
struct ConnectionBlocked {
    std::string reason;
};
struct ConnectionUnblocked {};
struct Nothing {};  // heartbeats and answers that nobody waits for (open-ok, qos-ok, select-ok)
struct Malformed {  // frames in an order that AMQP forbids: the connection is not to be used any more
    std::string what;
};

using Incoming = std::variant<Nothing, Deliver, Return, ConsumeOk, CancelOk, Cancel, DeclareOk, Confirm, ChannelClose,
                              ConnectionClose, ConnectionCloseOk, ConnectionBlocked, ConnectionUnblocked, Malformed>;

}  // namespace retryd::amqp
