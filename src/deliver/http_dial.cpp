#include "deliver/http_dial.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/error_code.hpp>

#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <vector>

namespace retryd::deliver {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

constexpr auto nothrow = asio::as_tuple(asio::use_awaitable);

// What the timer needs to end an attempt; outlives the coroutine by as long as the timer's handler is queued.
struct Attempt {
    explicit Attempt(const StreamSocket::executor_type& executor) : resolver(executor), timer(executor) {}
    tcp::resolver resolver;
    asio::steady_timer timer;
    bool over = false;
    bool timed_out = false;
};

void limit(const std::shared_ptr<Attempt>& attempt, StreamSocket& socket) {
    attempt->timer.expires_after(connect_timeout);
    attempt->timer.async_wait([attempt, &socket](error_code error) {
        if (error || attempt->over) return;
        attempt->timed_out = true;
        attempt->resolver.cancel();
        error_code ignored;
        socket.close(ignored);
    });
}

asio::awaitable<error_code> resolve(Attempt& attempt, const model::HttpTarget& target, std::vector<tcp::endpoint>& found) {
    error_code not_an_address;
    const auto address = asio::ip::make_address(target.tcp_host, not_an_address);
    if (!not_an_address) {
        found.emplace_back(address, target.tcp_port);
        co_return error_code{};
    }
    const auto port = std::to_string(target.tcp_port);
    auto [error, results] = co_await attempt.resolver.async_resolve(target.tcp_host, port, nothrow);
    for (const auto& result : results) found.push_back(result.endpoint());
    co_return error;
}

// Where nobody listens on a port of the kernel's own range, a connect to it may meet itself.
bool met_itself(const StreamSocket& socket) {
    error_code error;
    const auto local = socket.local_endpoint(error);
    return !error && local == socket.remote_endpoint(error) && !error;
}

asio::awaitable<error_code> connect_one(StreamSocket& socket, tcp::endpoint address) {
    error_code error;
    socket.close(error);
    socket.open(asio::generic::stream_protocol(address.protocol()), error);
    if (error) co_return error;
    const asio::generic::stream_protocol::endpoint endpoint(address);
    auto [failed] = co_await socket.async_connect(endpoint, nothrow);
    if (failed) co_return failed;
    if (met_itself(socket)) co_return asio::error::connection_refused;
    socket.set_option(tcp::no_delay(true), error);
    co_return error_code{};
}

asio::awaitable<error_code> connect_tcp(StreamSocket& socket, Attempt& attempt, const model::HttpTarget& target) {
    std::vector<tcp::endpoint> addresses;
    auto error = co_await resolve(attempt, target, addresses);
    for (const auto& address : addresses) {
        error = co_await connect_one(socket, address);
        if (!error || error == asio::error::operation_aborted) break;
    }
    co_return error;
}

// By hand: Asio takes a full backlog (EAGAIN) for a success, and the first write then fails.
error_code connect_unix(StreamSocket& socket, const std::string& path) {
    sockaddr_un address{};
    if (path.size() >= sizeof address.sun_path) return asio::error::name_too_long;
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
    error_code error;
    socket.open(asio::generic::stream_protocol(AF_UNIX, 0), error);
    if (!error) socket.native_non_blocking(true, error);
    if (error) return error;
    const auto* const generic = static_cast<const sockaddr*>(static_cast<const void*>(&address));
    if (::connect(socket.native_handle(), generic, sizeof address) == 0) return {};
    return {errno, boost::system::system_category()};
}

}  // namespace

std::string to_text(const model::HttpTarget& target) {
    if (!target.unix_path.empty()) return "unix:" + target.unix_path;
    return target.tcp_host + ":" + std::to_string(target.tcp_port);
}

std::string shown_path(std::string_view path) {
    const auto query = path.find('?');
    return query == std::string_view::npos ? std::string(path) : std::string(path.substr(0, query)) + "?...";
}

asio::awaitable<std::string> dial(StreamSocket& socket, model::HttpTarget target) {
    error_code error;
    bool timed_out = false;
    if (!target.unix_path.empty()) {
        error = connect_unix(socket, target.unix_path);
    } else {
        const auto attempt = std::make_shared<Attempt>(socket.get_executor());
        limit(attempt, socket);
        error = co_await connect_tcp(socket, *attempt, target);
        attempt->over = true;
        attempt->timer.cancel();
        timed_out = attempt->timed_out;
    }
    if (timed_out) co_return "connect " + to_text(target) + ": timed out";
    if (error) co_return "connect " + to_text(target) + ": " + error.message();
    co_return std::string{};
}

}  // namespace retryd::deliver
