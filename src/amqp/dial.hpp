#pragma once
// A TCP connection within a time. Blocks its thread; Exit::pull() from another thread ends it early.
// The one wait without a bound is the resolver's.

#include "amqp/descriptor.hpp"
#include "amqp/exit.hpp"
#include "model/problem.hpp"
#include "model/time.hpp"

#include <cstdint>
#include <string>

namespace retryd::amqp {

// Tries each address of the host until one answers; `timeout` is for all of them together. The socket does not block, and
// `exit` holds it. `stuck_after` is for limit_unacknowledged().
[[nodiscard]] model::Result<Descriptor> dial(const std::string& host, std::uint16_t port, model::Milliseconds timeout,
                                             model::Milliseconds stuck_after, Exit& exit);

// TCP_USER_TIMEOUT: how long sent bytes may stay unacknowledged before the kernel gives up.
void limit_unacknowledged(int socket, model::Milliseconds limit);

}  // namespace retryd::amqp
