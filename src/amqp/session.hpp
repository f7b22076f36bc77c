#pragma once
// What a link does with its connection, from login to the end of it. On the link's thread.
//
// start() once; then perform() and take() in any order. Events are appended to the vector given to the constructor.
// Trouble with the connection is not a session's business: it sends, and the pump looks.

#include "amqp/incoming.hpp"
#include "ports/broker.hpp"

#include <cstdint>
#include <vector>

namespace retryd::amqp {

using Events = std::vector<ports::BrokerEvent>;
using Commands = std::vector<ports::BrokerCommand>;

class Session {
public:
    virtual ~Session() = default;
    virtual void start() = 0;
    // May take from `commands`. `closes_seen`: how many PublishChannelClosed of this connection their sender had seen.
    virtual void perform(Commands& commands, std::uint32_t closes_seen) = 0;
    virtual void take(Incoming&& incoming) = 0;
    // Sends a bounded share of what perform() left to be sent; true: there is more, after the next look at the socket.
    virtual bool advance() { return false; }
    // Acks wait for others; flush() sends them all.
    [[nodiscard]] virtual bool holds_back() const { return false; }
    virtual void flush() {}
    // How much has come since the last call of what the broker may send without an ack; 1: all of it, or it sets no limit.
    [[nodiscard]] virtual double arrived() { return 1; }
    // False: what the broker sends is to be left in the socket.
    [[nodiscard]] virtual bool reading() const { return true; }
};

}  // namespace retryd::amqp
