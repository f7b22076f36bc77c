#pragma once
// A delivery as the head of an HTTP request. Pure: bytes in, bytes out; the body is sent from the message itself.
//
// Nothing in a message can add a header, end the head or override a header that HTTP or retryd itself needs: values are
// percent-encoded (bytes below 0x20 and above 0x7E, `%`, leading and trailing space), names too (every non-token byte and `%`).
//
//   POST /orders HTTP/1.1 · Host · Content-Length · the policy's fixed headers · Content-Type, Content-Encoding,
//   Idempotency-Key, Retryd-*, Amqp-PROPERTY · traceparent, tracestate, ce-ATTRIBUTE, Amqp-Header-NAME

#include "model/names.hpp"
#include "model/policy.hpp"
#include "ports/consumer.hpp"

#include <string>
#include <string_view>

namespace retryd::deliver {

// The head with its empty line, as a rule under this size: application headers are left out, the largest first, and
// Retryd-Headers-Omitted counts them. (Fixed headers of the policy are never left out for their size.)
inline constexpr std::size_t max_request_head = 16 * 1024;

[[nodiscard]] std::string request_head(const ports::Delivery& delivery, const model::QueuePolicy& queue);
// The same to somebody else than the queue's consumer.
[[nodiscard]] std::string request_head(const ports::Delivery& delivery, const model::QueuePolicy& queue,
                                       const model::HttpTarget& target);

// The standing gate's question, whole; the policy has a gate.
[[nodiscard]] std::string ready_request(const model::DeliverPolicy& policy);

}  // namespace retryd::deliver
