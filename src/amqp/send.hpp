#pragma once
// Bytes into a socket, all of them. Blocks while the peer reads nothing, for as long as the kernel holds the connection to be
// alive: TCP_USER_TIMEOUT and Exit bound it.

#include "model/problem.hpp"

#include <string_view>

namespace retryd::amqp {

// Until the socket, which does not block by itself, takes or has bytes; `events` as poll(2) has them. An end of the connection
// counts as such.
void wait_until(int socket, short events);

[[nodiscard]] model::Result<void> send_all(int socket, std::string_view bytes);

}  // namespace retryd::amqp
