#include "deliver/http_connection.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include <sys/socket.h>

#include <cerrno>
#include <exception>
#include <utility>

namespace retryd::deliver {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;

constexpr auto nothrow = asio::as_tuple(asio::use_awaitable);
constexpr std::size_t largest_write = 1024 * 1024;  // before others have their turn

}  // namespace

HttpConnection::HttpConnection(asio::io_context& io, const model::DeliverPolicy& policy, Owner& owner)
    : io_(io), target_(policy.http), max_reply_(policy.max_reply), owner_(&owner), socket_(io) {}

void HttpConnection::start() {
    const auto on_exit = [self = shared_from_this()](const std::exception_ptr& broken) {
        if (broken) std::rethrow_exception(broken);  // to whoever runs the loop
    };
    asio::co_spawn(io_, run(), on_exit);
}

void HttpConnection::send(HttpExchange exchange) {
    exchange_ = std::move(exchange);
    reader_.emplace(max_reply_);
    sent_ = 0;
    reused_ = connected_;
    if (connected_) write();
}

void HttpConnection::close() {
    owner_ = nullptr;
    error_code ignored;
    socket_.close(ignored);
}

bool HttpConnection::is_silent() {
    char byte = 0;
    return ::recv(socket_.native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 && (errno == EAGAIN || errno == EINTR);
}

asio::awaitable<void> HttpConnection::run() {
    co_await asio::post(io_, nothrow);
    const auto trouble = co_await dial(socket_, target_);
    if (!is_open()) {
        close();  // dial may have opened the socket after the first close
        co_return;
    }
    if (!trouble.empty()) {
        end(trouble);
        co_return;
    }
    connected_ = true;
    if (exchange_) {
        write();
    } else {
        owner_->connected(*this);
    }
    const auto buffer = asio::buffer(input_);
    while (is_open()) {
        const auto [error, size] = co_await socket_.async_read_some(buffer, nothrow);
        // What was read may answer a request of which the loop has not told yet that it was sent: that waits in its queue.
        if (sending_ && !has_sent()) co_await asio::post(io_, nothrow);
        if (!is_open()) co_return;
        if (error) {
            stream_ended(error);
        } else {
            received(std::string_view(input_.data(), size));
        }
    }
}

void HttpConnection::write() {
    sending_ = true;
    const std::array<asio::const_buffer, 2> buffers{asio::buffer(exchange_->head), asio::buffer(exchange_->message->body)};
    const auto count = [self = shared_from_this()](const error_code& error, std::size_t total) {
        self->sent_ = total;
        return error ? 0 : largest_write;
    };
    const auto done = [self = shared_from_this()](const error_code& error, std::size_t total) {
        self->sent_ = total;  // `count` is not asked after the last part
        self->written(error);
    };
    asio::async_write(socket_, buffers, count, done);
}

void HttpConnection::written(const error_code& error) {
    if (!error) {
        sending_ = false;
    } else if (is_open() && !has_sent()) {
        end("send: " + error.message());
    }
    // After a part was sent a failure decides nothing: a reply may have come already, and the stream's end follows.
}

void HttpConnection::received(std::string_view bytes) {
    if (!exchange_) return end("the consumer spoke unasked");
    switch (reader_->feed(bytes)) {
        case ReplyReader::State::reading: return;
        case ReplyReader::State::complete: return finish_exchange();
        case ReplyReader::State::broken: return end("bad reply: " + reader_->trouble());
    }
}

void HttpConnection::stream_ended(const error_code& why) {
    if (!exchange_ || why != asio::error::eof) return end(why.message());
    if (reader_->end_of_stream() == ReplyReader::State::complete) return finish_exchange();
    end(reader_->trouble());
}

void HttpConnection::finish_exchange() {
    if (!has_sent()) return end("answered before anything was sent");  // it cannot be an answer to this request
    const auto key = exchange_->key;
    auto reply = reader_->reply();
    auto* const owner = owner_;
    if (reader_->reusable() && !sending_) {
        exchange_.reset();
        reader_.reset();
    } else {
        close();  // the exchange stays: the kernel may still be reading from it
    }
    owner->replied(*this, key, std::move(reply));
}

void HttpConnection::end(const std::string& trouble) {
    auto* const owner = owner_;
    close();
    owner->ended(*this, trouble);
}

}  // namespace retryd::deliver
