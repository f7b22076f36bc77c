#include "amqp/dial.hpp"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>

namespace retryd::amqp {

namespace {

using Clock = std::chrono::steady_clock;
using Addresses = std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)>;

model::Problem trouble(const std::string& host, std::string what) {
    return {model::ProblemCode::unavailable, host, std::move(what), {}};
}

std::string error_text(int error) {
    return std::strerror(error);
}  // NOLINT(concurrency-mt-unsafe): glibc's is safe enough

int resolve(const std::string& host, std::uint16_t port, Addresses& found) {
    addrinfo wanted{};
    wanted.ai_socktype = SOCK_STREAM;
    wanted.ai_flags = AI_NUMERICSERV;
    addrinfo* list = nullptr;
    const int error = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &wanted, &list);
    found.reset(list);
    return error;
}

void tune(int socket, model::Milliseconds stuck_after) {
    const int on = 1;
    ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    limit_unacknowledged(socket, stuck_after);
}

// 0, or the error.
int wait_connected(int socket, Clock::time_point deadline) {
    const auto left = std::chrono::ceil<model::Milliseconds>(deadline - Clock::now());
    pollfd wanted{socket, POLLOUT, 0};
    const int ready = ::poll(&wanted, 1, left.count() > 0 ? static_cast<int>(left.count()) : 0);
    if (ready < 0) return errno;
    if (ready == 0) return ETIMEDOUT;
    int error = 0;
    socklen_t size = sizeof error;
    ::getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &size);
    return error;
}

int connect(const Descriptor& socket, const addrinfo& address, Clock::time_point deadline) {
    if (::connect(socket.get(), address.ai_addr, address.ai_addrlen) == 0) return 0;
    if (errno != EINPROGRESS) return errno;
    return wait_connected(socket.get(), deadline);
}

}  // namespace

void limit_unacknowledged(int socket, model::Milliseconds limit) {
    const auto bound = static_cast<unsigned>(limit.count());
    ::setsockopt(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, &bound, sizeof bound);
}

model::Result<Descriptor> dial(const std::string& host, std::uint16_t port, model::Milliseconds timeout,
                               model::Milliseconds stuck_after, Exit& exit) {
    const auto deadline = Clock::now() + timeout;
    Addresses addresses{nullptr, &::freeaddrinfo};
    if (const int error = resolve(host, port, addresses)) return trouble(host, ::gai_strerror(error));
    int error = EADDRNOTAVAIL;
    for (const addrinfo* at = addresses.get(); at != nullptr; at = at->ai_next) {
        Descriptor socket{::socket(at->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)};
        if (!socket.open()) {
            error = errno;
            continue;
        }
        tune(socket.get(), stuck_after);
        exit.lend(socket.get());
        error = connect(socket, *at, deadline);
        if (error == 0) return socket;
        exit.take_back();
    }
    return trouble(host, error_text(error));
}

}  // namespace retryd::amqp
