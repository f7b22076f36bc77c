#pragma once
// One frame of the library, read into what the broker says. Content goes through the assembler on its way.

#include "amqp/assembler.hpp"
#include "amqp/library.hpp"

namespace retryd::amqp {

// Everything is copied out: the frame's buffers may be released afterwards.
[[nodiscard]] Incoming decode(const amqp_frame_t& frame, Assembler& assembler);

}  // namespace retryd::amqp
