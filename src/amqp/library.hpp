#pragma once
// The one door to rabbitmq-c (0.12 and later have other include paths), and what makes its types pleasant.

#include "model/time.hpp"

#include <amqp.h>
#include <amqp_framing.h>
#include <amqp_ssl_socket.h>
#include <amqp_tcp_socket.h>
#include <sys/time.h>

#include <string_view>

namespace retryd::amqp {

// Views into the library's buffers: copy out before they are released.
inline std::string_view view(const amqp_bytes_t& bytes) {
    return {static_cast<const char*>(bytes.bytes), bytes.len};
}

// The library takes its input as pointers to non-const, but never writes through them.
inline amqp_bytes_t lend(std::string_view text) {
    return {text.size(), const_cast<char*>(text.data())};
}

inline timeval to_timeval(model::Milliseconds span) {
    return {span.count() / 1000, static_cast<suseconds_t>(span.count() % 1000 * 1000)};
}

}  // namespace retryd::amqp
