#pragma once
// Where the admin socket is when nobody says it: one rule for the daemon, which makes it, and retryctl, which looks for it.
// The order: $RUNTIME_DIRECTORY/admin.sock, /run/retryd/admin.sock, $XDG_RUNTIME_DIR/retryd/admin.sock.

#include "admin/client.hpp"
#include "model/problem.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace retryd::admin {

// What the order is made from.
struct RuntimePlaces {
    std::optional<std::string> runtime_directory;  // as systemd sets it: the first of a list with colons counts
    std::string run = "/run";
    std::optional<std::string> xdg_runtime_dir;
};
[[nodiscard]] RuntimePlaces runtime_places();  // from the environment; an empty variable counts as absent

[[nodiscard]] std::vector<std::string> default_sockets(const RuntimePlaces& places);  // paths, best first; never empty
// For the daemon: $RUNTIME_DIRECTORY where it is set, else the first whose folder it may write or create; else the first.
[[nodiscard]] std::string socket_to_open(const RuntimePlaces& places);
// For retryctl: the first that exists; else the first.
[[nodiscard]] std::string socket_to_ask(const RuntimePlaces& places);

// "unix:PATH", a bare path, which has a slash, or "http://HOST:PORT". Without a token.
[[nodiscard]] model::Result<AdminAddress> parse_admin_address(std::string_view text);

}  // namespace retryd::admin
