#pragma once
// The loop of one link's thread: connects, reads what has come, lets the session answer, and waits for more.
//
// One wake, many frames: the library buffers what it read, so the socket says nothing about frames that wait inside. Hence
// always drain until nothing is left, and only then wait. A tick at a quarter of the heartbeat comes whatever else
// happens, because the library sends and watches heartbeats only inside its calls.
// All members are for the link's thread (run()); other threads post to context(). No state survives a connection.

#include "amqp/connection.hpp"
#include "amqp/exit.hpp"
#include "amqp/session.hpp"
#include "model/policy.hpp"
#include "ports/broker.hpp"

#include <boost/asio/io_context.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace retryd::amqp {

// Of the messages in them.
[[nodiscard]] std::size_t bytes_in(const Events& events);

class Pump {
public:
    // Called with the events of a turn, in order; takes them and may leave a spare vector in their place.
    using Report = std::function<void(Events& events)>;

    Pump(ports::Link link, const model::BrokerPolicy& policy, Introduction introduction, Exit& exit, Report report);
    ~Pump();
    Pump(const Pump&) = delete;
    Pump& operator=(const Pump&) = delete;

    [[nodiscard]] boost::asio::io_context& context() { return context_; }
    void run();  // until context().stop()

    void connect(std::size_t address);
    void perform(Commands& commands, std::uint32_t closes_seen);  // takes from them; dropped when down
    void close();
    void disconnect();
    // The main loop has taken events with so many bytes_in() them: what it has not taken is bounded.
    void taken(std::size_t bytes);

private:
    struct Live;
    void wait();
    void wait_readable();
    void wait_rested();
    void wait_tick();
    void take_a_sip();
    void wait_flush();
    [[nodiscard]] bool reading() const;
    void read_turn();
    void drain(std::size_t most_bytes);
    void take(Incoming&& incoming);
    void end_turn();
    void report();
    void go_down(bool refused, const std::string& why);

    ports::Link link_;
    model::BrokerPolicy policy_;
    Introduction introduction_;
    Exit& exit_;
    Report report_;
    boost::asio::io_context context_{1};
    Events events_;
    std::size_t untaken_ = 0;        // bytes in what was reported and not taken yet
    std::uint32_t names_given_ = 0;  // generations and consumer tags, over all connections
    std::uint64_t life_ = 0;         // counts connections: a handler of an ended one does nothing
    std::unique_ptr<Live> live_;     // nothing: down
};

}  // namespace retryd::amqp
