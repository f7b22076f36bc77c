#pragma once
// The channel for questions that the broker may answer by closing it: a missing queue is a 404, other arguments a 406.
//
// One question at a time, the others wait their turn; the channel is opened again for the first question after a refusal.

#include "amqp/connection.hpp"
#include "amqp/incoming.hpp"
#include "amqp/session.hpp"

#include <deque>
#include <variant>

namespace retryd::amqp {

class ScratchChannel {
public:
    ScratchChannel(Connection& connection, ChannelNumber number, ports::Link link, Events& events)
        : connection_(connection), number_(number), link_(link), events_(events) {}

    void ask(ports::LookUp&& question) { enqueue(std::move(question)); }
    void ask(ports::Declare&& question) { enqueue(std::move(question)); }
    void take(const DeclareOk& answer);
    void take(const ChannelClose& refusal);

private:
    using Question = std::variant<ports::LookUp, ports::Declare>;
    void enqueue(Question&& question);
    void send_first();
    void next();
    void refuse_first(std::uint16_t code, const std::string& why);

    Connection& connection_;
    ChannelNumber number_;
    ports::Link link_;  // named in the answers
    Events& events_;
    std::deque<Question> questions_;  // the first one is with the broker
    bool open_ = false;
};

}  // namespace retryd::amqp
