#pragma once
// What retryd says on the stream: whole frames but for a message's body, which is sent after its frame as it is. Pure.

#include "deliver/stream_frame.hpp"
#include "model/names.hpp"
#include "ports/consumer.hpp"

#include <cstdint>
#include <string>

namespace retryd::deliver {

// `message`. Texts that are not UTF-8 go as {"$bytes":"base64"}. A header table that can't be read, or with which the header
// would be too long, is left out, and `headers_omitted` says so.
[[nodiscard]] std::string message_frame(const ports::Delivery& delivery, std::uint64_t id, const model::QueueName& queue);

[[nodiscard]] std::string welcome_frame(const model::QueueName& queue, model::ByteCount max_body, model::Milliseconds timeout);
[[nodiscard]] std::string ping_frame();
[[nodiscard]] std::string drain_frame();
[[nodiscard]] std::string error_frame(const Breach& breach);

}  // namespace retryd::deliver
