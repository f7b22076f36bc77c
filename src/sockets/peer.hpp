#pragma once
// Who sits at the other end of a Unix socket.

#include <sys/types.h>

#include <optional>

namespace retryd::sockets {

// The user that the peer ran as when it connected; nothing where the system can't say.
[[nodiscard]] std::optional<uid_t> peer_uid(int descriptor);

}  // namespace retryd::sockets
