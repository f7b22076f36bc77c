#include "amqp/exit.hpp"

#include <fcntl.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>

namespace retryd::amqp {

void Exit::lend(int socket) {
    const std::lock_guard lock{mutex_};
    lent_ = Descriptor{::fcntl(socket, F_DUPFD_CLOEXEC, 0)};
    if (pulled_) ::shutdown(lent_.get(), SHUT_RDWR);
}

void Exit::take_back() {
    const std::lock_guard lock{mutex_};
    lent_ = Descriptor{};
}

void Exit::pull() {
    const std::lock_guard lock{mutex_};
    pulled_ = true;
    if (lent_.open()) ::shutdown(lent_.get(), SHUT_RDWR);
}

void Exit::close() {
    const std::lock_guard lock{mutex_};
    pulled_ = false;
}

Exit::Traffic Exit::traffic() {
    const std::lock_guard lock{mutex_};
    tcp_info info{};
    socklen_t size = sizeof info;
    if (!lent_.open() || ::getsockopt(lent_.get(), IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return {};
    return {info.tcpi_bytes_acked, info.tcpi_bytes_received};
}

}  // namespace retryd::amqp
