#include "amqp/exit.hpp"

#include <fcntl.h>
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

}  // namespace retryd::amqp
