#pragma once
// The socket under one session: reads frames, writes frames, looks at the clock for it. On the main loop only.
//
// Protocol: make_shared, then start() once. The owner hears what comes, is told once when it has ended, and nothing after that
// or after close(). It is never called from inside start(), send(), break_off() or close(). What is sent within one turn of
// the loop is written together, the bodies from where they lie. The object keeps itself alive until its last operation is over.

#include "deliver/stream_session.hpp"
#include "model/message.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/system/error_code.hpp>

#include <array>
#include <deque>
#include <memory>
#include <string>
#include <string_view>

namespace retryd::deliver {

[[nodiscard]] model::SteadyTime steady_now();

class StreamConnection : public std::enable_shared_from_this<StreamConnection> {
public:
    using Socket = boost::asio::generic::stream_protocol::socket;
    class Owner {
    public:
        virtual ~Owner() = default;
        virtual void heard(StreamConnection& connection, Heard&& what) = 0;  // anything but a breach
        virtual void ended(StreamConnection& connection, const std::string& why) = 0;
    };

    StreamConnection(boost::asio::io_context& io, Socket&& socket, Owner& owner);

    void start();
    // A frame, and the body that belongs to it.
    void send(std::string frame, model::MessagePtr message = nullptr);
    // Says what was wrong and finishes.
    void break_off(const Breach& breach);
    // Ends the stream after what is still to be sent, and closes when the peer does. The owner is not told.
    void finish();
    void close();

    [[nodiscard]] StreamSession& session() { return session_; }
    [[nodiscard]] const StreamSession& session() const { return session_; }

private:
    struct Outgoing {
        std::string frame;
        model::MessagePtr message;
    };

    boost::asio::awaitable<void> run();
    void take(std::string_view bytes);
    void breached(const Breach& breach);
    void end(const std::string& why);
    void write();
    void written(const boost::system::error_code& error);
    void say_no_more();
    void await_timer();
    void timer_rang();

    boost::asio::io_context& io_;
    Socket socket_;
    Owner* owner_;  // null once it has ended
    StreamSession session_;
    FrameReader reader_;
    boost::asio::steady_timer timer_;
    std::array<char, 16 * 1024> input_{};
    std::deque<Outgoing> outgoing_;
    std::size_t being_written_ = 0;  // so many at its front
    bool writing_ = false;
    bool finishing_ = false;  // what is still to be written is the last word
};

}  // namespace retryd::deliver
