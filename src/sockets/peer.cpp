#include "sockets/peer.hpp"

#include <sys/socket.h>

namespace retryd::sockets {

std::optional<uid_t> peer_uid(int descriptor) {
    ucred credentials{};
    socklen_t size = sizeof credentials;
    if (::getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &credentials, &size) != 0) return std::nullopt;
    return credentials.uid;
}

}  // namespace retryd::sockets
