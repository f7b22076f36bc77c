#pragma once
// The socket under one session: reads frames, writes frames, looks at the clock for it. On the main loop only.
//
// Protocol: make_shared, then start() once. The owner hears what comes, is told once when it has ended, and nothing after that
// or after close(). It is never called from inside start(), send(), break_off() or close(). What is sent within one turn of
// the loop is written together, the bodies from where they lie. The object keeps itself alive until its last operation is over.

#include "deliver/stream_session.hpp"
#include "model/message.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/system/error_code.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace retryd::deliver {

inline constexpr std::size_t quite_some = 64 * 1024;   // bytes
inline constexpr std::chrono::seconds stuck_after{1};  // in one write

[[nodiscard]] model::SteadyTime steady_now();

class StreamConnection : public std::enable_shared_from_this<StreamConnection> {
public:
    using Socket = boost::asio::generic::stream_protocol::socket;
    class Owner {
    public:
        virtual ~Owner() = default;
        virtual void heard(StreamConnection& connection, Heard&& what) = 0;  // anything but a breach
        virtual void ended(StreamConnection& connection, const std::string& why) = 0;
        // What has come of a frame that is not whole is no trifle any more: over quite_some.
        virtual void announced(StreamConnection& connection) = 0;
    };

    StreamConnection(boost::asio::io_context& io, Socket&& socket, Owner& owner);

    void start();
    // A frame, and the message whose body belongs to it, with its id in this session.
    void send(std::string frame, model::MessagePtr message = nullptr, std::uint64_t id = 0);
    // Takes back a message of which nothing can have been sent; false: too late.
    [[nodiscard]] bool withdraw(std::uint64_t id);
    // The peer has taken nothing, or too little, for a while.
    [[nodiscard]] bool is_stuck() const;
    // Says what was wrong and finishes.
    void break_off(const Breach& breach);
    // Ends the stream after what is still to be sent, and closes when the peer does. The owner is not told.
    void finish();
    void close();

    [[nodiscard]] std::size_t unfinished() const { return reader_.unfinished(); }  // bytes of a frame that is not whole
    [[nodiscard]] StreamSession& session() { return session_; }
    [[nodiscard]] const StreamSession& session() const { return session_; }

private:
    struct Outgoing {
        std::string frame;
        model::MessagePtr message;
        std::uint64_t id = 0;
    };

    boost::asio::awaitable<void> run();
    void take(std::string_view bytes);
    void breached(const Breach& breach);
    void end(const std::string& why);
    void write();
    void write_rest();
    void took(const boost::system::error_code& error, std::size_t bytes);
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
    std::size_t bytes_taken_ = 0;    // of these
    std::vector<boost::asio::const_buffer> rest_;
    model::SteadyTime write_began_{};
    bool writing_ = false;
    bool finishing_ = false;  // what is still to be written is the last word
};

}  // namespace retryd::deliver
