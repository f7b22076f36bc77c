#pragma once
// Puts content back together: a method that announces it, one header frame, body frames until the announced size.
// Channels may interleave their frames; within one channel nothing comes between. Pure: knows no library, no socket.
//
//   assembler.begin(Deliver{…}); assembler.header(channel, size, properties); … assembler.body(channel, bytes)
//
// Each call that completes a message answers with it, each other one with Nothing, or with Malformed.

#include "amqp/incoming.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <string_view>
#include <variant>

namespace retryd::amqp {

class Assembler {
public:
    Incoming begin(Deliver&& deliver);
    Incoming begin(Return&& returned);
    Incoming header(ChannelNumber channel, std::uint64_t body_size, std::string_view properties);
    Incoming body(ChannelNumber channel, std::string_view bytes);
    // The broker closed the channel: what was half-way on it never completes.
    void forget(ChannelNumber channel) { partial_.erase(channel); }

private:
    struct Partial {
        std::variant<Deliver, Return> method;
        std::shared_ptr<model::Message> message = std::make_shared<model::Message>();
        std::uint64_t missing = 0;
        bool header_seen = false;
    };
    Incoming begin(ChannelNumber channel, std::variant<Deliver, Return>&& method);
    Incoming finish(std::map<ChannelNumber, Partial>::iterator at);
    std::map<ChannelNumber, Partial> partial_;
};

}  // namespace retryd::amqp
