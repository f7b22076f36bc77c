#pragma once
// Opens a socket to listen on, and keeps the manners of socket files: a stale one is replaced; what somebody else
// listens on, and what is no socket, is never removed.

#include "model/policy.hpp"
#include "model/problem.hpp"

#include <sys/types.h>

#include <optional>
#include <string>

namespace retryd::sockets {

// A socket file that we made.
struct SocketFile {
    std::string path;
    dev_t device = 0;
    ino_t inode = 0;
};

struct ListeningSocket {
    int descriptor = -1;           // open, listening, not blocking; the caller owns it
    int family = 0;                // AF_UNIX, AF_INET, AF_INET6
    model::ListenAddress address;  // with the port that the system chose where 0 was asked for
    std::optional<SocketFile> file;
};

// A Unix socket's file has its mode, owner and group from the start; its folder is made (0750) where only its last part is missing.
// Fails with a sentence on: a path over 107 bytes, a folder that is missing or may not be written, a path where another
// process listens or where something else than a socket lies, an owner that may not be set, an address that is in use or
// not ours.
// `access` is for Unix sockets; whom it names must be known to the system. Its users are for the caller to look at (peer.hpp).
[[nodiscard]] model::Result<ListeningSocket> open_listening_socket(const model::ListenAddress& address,
                                                                   const model::SocketAccess& access = model::SocketAccess());

// Removes the file unless another one lies at its path by now.
void remove_socket_file(const SocketFile& file);

[[nodiscard]] std::string to_text(const model::ListenAddress& address);  // "unix:PATH", "127.0.0.1:9000", "[::1]:9000"

}  // namespace retryd::sockets
