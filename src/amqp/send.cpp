#include "amqp/send.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

namespace retryd::amqp {

void wait_until(int socket, short events) {
    constexpr int without_limit = -1;
    pollfd wanted{socket, events, 0};
    (void)::poll(&wanted, 1, without_limit);  // what went wrong, the next call on the socket says
}

model::Result<void> send_all(int socket, std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t sent = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent >= 0) {
            bytes.remove_prefix(static_cast<std::size_t>(sent));
        } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
            wait_until(socket, POLLOUT);
        } else if (errno != EINTR) {
            return model::Problem{model::ProblemCode::unavailable, {}, std::strerror(errno), {}};
        }
    }
    return {};
}

}  // namespace retryd::amqp
