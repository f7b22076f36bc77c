#pragma once
// The publish link: one channel on which every copy goes out mandatory, through the default exchange, and is confirmed.
//
// The default exchange routes by queue name and can have no alternate, so "confirmed and not returned" means: it is in
// that queue. While the broker is in alarm it stops reading; nothing is sent then, since a send would block.

#include "amqp/confirms.hpp"
#include "amqp/connection.hpp"
#include "amqp/scratch_channel.hpp"
#include "amqp/session.hpp"

#include <cstdint>
#include <deque>
#include <string>
#include <utility>

namespace retryd::amqp {

class PublishSession : public Session {
public:
    PublishSession(Connection& connection, Events& events);

    void start() override;
    void perform(Commands& commands, std::uint32_t closes_seen) override;
    bool advance() override;
    void take(Incoming&& incoming) override;

private:
    void publish(ports::PublishCopy& copy);
    void refuse(const ports::PublishCopy& copy, std::uint16_t code, const char* why);

    void perform(ports::PublishCopy& copy) { waiting_.push_back(std::move(copy)); }
    void perform(ports::LookUp& question) { scratch_.ask(std::move(question)); }
    void perform(ports::Declare& question) { scratch_.ask(std::move(question)); }
    template <class Other>
    void perform(Other&) {}

    void take(Confirm& confirm);
    void take(Return& returned);
    void take(DeclareOk& answer) { scratch_.take(answer); }
    void take(ChannelClose& close);
    void take(ConnectionBlocked& blocked);
    void take(ConnectionUnblocked& unblocked);
    template <class Other>
    void take(Other&) {}

    Connection& connection_;
    Events& events_;
    ScratchChannel scratch_;
    ConfirmWindow window_;
    std::deque<ports::PublishCopy> waiting_;  // for their turn, or for the end of the alarm
    std::uint32_t closes_ = 0;                // how often the broker has closed the channel
    bool blocked_ = false;
};

}  // namespace retryd::amqp
