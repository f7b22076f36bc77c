#pragma once
// One link as the main thread sees it: a pump on a thread of its own, and the two ways in and out of it.
//
// Everything here belongs to the main thread. Commands go over by one post for each batch, events come back by one post
// for each turn of the pump; the vectors travel to and fro and keep their capacity. Once a second the pump's thread is asked
// for a sign of life; the question waits where the thread is stuck, so there is never more than one.

#include "amqp/exit.hpp"
#include "amqp/pump.hpp"
#include "amqp/thread.hpp"
#include "ports/inbox.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>

namespace retryd::amqp {

class Link {
public:
    Link(ports::Link link, const model::BrokerPolicy& policy, const Introduction& introduction, boost::asio::io_context& main,
         ports::Inbox& inbox);
    ~Link();  // ends the connection at once and joins the thread
    Link(const Link&) = delete;
    Link& operator=(const Link&) = delete;

    void connect(std::size_t address);
    void disconnect();
    void close();
    void send(Commands& commands);

private:
    void receive();
    void ask_for_life();
    void feel_pulse_in_a_second();
    void feel_pulse();
    void hand_over(Events& events);  // called on the pump's thread

    ports::Link which_;
    boost::asio::io_context& main_;
    ports::Inbox& inbox_;
    boost::asio::steady_timer pulse_;
    boost::asio::steady_timer last_resort_;                                         // for a close that is stuck in a send
    enum class State : std::uint8_t { down, connecting, up } state_ = State::down;  // as told to the inbox
    bool answered_ = false;          // by the pump's thread, since it was asked for a sign of life
    Exit::Traffic traffic_;          // as of the last pulse
    Events pulses_;                  // reused
    std::uint32_t closes_seen_ = 0;  // PublishChannelClosed since connect()
    std::size_t taken_ = 0;          // bytes that the pump is not told of yet
    Events received_;                // reused
    std::shared_ptr<const bool> alive_ = std::make_shared<const bool>(true);  // expired: what comes is for nobody
    std::weak_ptr<const bool> watched_ = alive_;                              // the pump's thread copies this one

    // On both threads. A main loop that is busy finds all that came meanwhile in one batch, instead of many posts.
    std::mutex mutex_;
    Events reported_;          // what the main loop has not taken
    bool told_ = false;        // the main loop will come for them
    Commands spent_commands_;  // empty, for reuse
    Exit exit_;
    Pump pump_;
    Thread thread_;  // the last member: it is joined before anything that it uses goes
};

}  // namespace retryd::amqp
