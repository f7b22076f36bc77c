#include "deliver/stream_connection.hpp"

#include "deliver/stream_message.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <chrono>
#include <exception>
#include <span>
#include <utility>

namespace retryd::deliver {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;

constexpr auto nothrow = asio::as_tuple(asio::use_awaitable);
constexpr std::size_t frames_at_once = 32;  // two buffers each: what one system call takes
constexpr std::chrono::seconds last_word_within{1};

std::chrono::steady_clock::time_point on_the_clock(model::SteadyTime time) {
    return std::chrono::steady_clock::time_point{time.time_since_epoch()};
}

}  // namespace

model::SteadyTime steady_now() {
    const auto since_start = std::chrono::steady_clock::now().time_since_epoch();
    return model::SteadyTime{std::chrono::duration_cast<model::Microseconds>(since_start)};
}

StreamConnection::StreamConnection(asio::io_context& io, Socket&& socket, Owner& owner)
    : io_(io), socket_(std::move(socket)), owner_(&owner), session_(steady_now()), timer_(io) {}

void StreamConnection::start() {
    const auto on_exit = [self = shared_from_this()](const std::exception_ptr& broken) {
        if (broken) std::rethrow_exception(broken);  // to whoever runs the loop
    };
    asio::co_spawn(io_, run(), on_exit);
    await_timer();
}

void StreamConnection::send(std::string frame, model::MessagePtr message, std::uint64_t id) {
    outgoing_.push_back({std::move(frame), std::move(message), id});
    if (std::exchange(writing_, true)) return;
    asio::post(io_, [self = shared_from_this()] { self->write(); });
}

bool StreamConnection::withdraw(std::uint64_t id) {
    const auto first = outgoing_.begin() + static_cast<std::ptrdiff_t>(being_written_);
    const auto found = std::find_if(first, outgoing_.end(), [id](const Outgoing& each) { return each.id == id; });
    if (found == outgoing_.end()) return false;
    outgoing_.erase(found);
    return true;
}

bool StreamConnection::is_stuck() const {
    return being_written_ > 0 && steady_now() - write_began_ >= stuck_after;
}

// The peer has a moment to read it: a socket that is closed over unread bytes takes the answer with it.
void StreamConnection::break_off(const Breach& breach) {
    send(error_frame(breach));
    finish();
}

void StreamConnection::finish() {
    owner_ = nullptr;
    FrameReader nothing;
    std::swap(reader_, nothing);
    finishing_ = true;
    if (!writing_) say_no_more();
    timer_.expires_after(last_word_within);
    await_timer();
}

void StreamConnection::say_no_more() {
    error_code ignored;
    socket_.shutdown(Socket::shutdown_send, ignored);
}

void StreamConnection::close() {
    owner_ = nullptr;
    error_code ignored;
    socket_.close(ignored);
    timer_.cancel();
}

asio::awaitable<void> StreamConnection::run() {
    co_await asio::post(io_, nothrow);
    const auto buffer = asio::buffer(input_);
    for (;;) {
        const auto [error, size] = co_await socket_.async_read_some(buffer, nothrow);
        if (error) {
            end(error == asio::error::eof ? "the session ended" : "the session broke: " + error.message());
            co_return;
        }
        take(std::string_view(input_.data(), size));
    }
}

// After the end what comes is read and dropped.
void StreamConnection::take(std::string_view bytes) {
    if (owner_ == nullptr) return;
    reader_.feed(bytes);
    for (;;) {
        const auto header = reader_.next();
        if (!header) break;
        auto heard = session_.hear(*header, steady_now());
        if (const auto* breach = std::get_if<Breach>(&heard)) return breached(*breach);
        owner_->heard(*this, std::move(heard));
        if (owner_ == nullptr) return;
    }
    if (const auto breach = reader_.breach()) return breached(*breach);
    if (unfinished() > quite_some) owner_->announced(*this);
}

void StreamConnection::breached(const Breach& breach) {
    auto* const owner = owner_;
    const auto why = "the session was closed: " + breach.message;
    break_off(breach);
    owner->ended(*this, why);
}

void StreamConnection::end(const std::string& why) {
    auto* const owner = owner_;
    close();
    if (owner != nullptr) owner->ended(*this, why);
}

void StreamConnection::write() {
    write_began_ = steady_now();
    being_written_ = std::min(outgoing_.size(), frames_at_once);
    bytes_taken_ = 0;
    write_rest();
}

// Not asio::async_write: it gives a system call no more than 16 buffers.
void StreamConnection::write_rest() {
    rest_.clear();
    auto skip = bytes_taken_;
    const auto add = [&](const std::string& bytes) {
        const auto left = asio::buffer(bytes) + skip;
        skip -= bytes.size() - left.size();
        if (left.size() > 0) rest_.push_back(left);
    };
    for (std::size_t i = 0; i < being_written_; ++i) {
        add(outgoing_[i].frame);
        if (outgoing_[i].message != nullptr) add(outgoing_[i].message->body);
    }
    if (rest_.empty()) return written({});
    socket_.async_write_some(
        std::span{std::as_const(rest_)},
        [self = shared_from_this()](const error_code& error, std::size_t bytes) { self->took(error, bytes); });
}

void StreamConnection::took(const error_code& error, std::size_t bytes) {
    bytes_taken_ += bytes;
    if (error) return written(error);
    write_rest();
}

void StreamConnection::written(const error_code& error) {
    const auto first = outgoing_.begin();
    outgoing_.erase(first, first + static_cast<std::ptrdiff_t>(being_written_));
    being_written_ = 0;
    if (error) {
        end("the session broke: " + error.message());
    } else if (!outgoing_.empty()) {
        write();
    } else {
        writing_ = false;
        if (finishing_) say_no_more();
    }
}

void StreamConnection::await_timer() {
    if (!finishing_) timer_.expires_at(on_the_clock(session_.next()));
    timer_.async_wait([self = shared_from_this()](const error_code& error) {
        if (!error) self->timer_rang();
    });
}

void StreamConnection::timer_rang() {
    if (owner_ == nullptr) return close();
    const auto due = session_.timer_due(steady_now());
    if (const auto* breach = std::get_if<Breach>(&due)) return breached(*breach);
    if (std::holds_alternative<PingDue>(due)) send(ping_frame());
    await_timer();
}

}  // namespace retryd::deliver
