#pragma once
// The names of HTTP headers that retryd and HTTP itself set on a request: neither the policy nor a message may.

#include <string_view>

namespace retryd::model {

// Framing, the connection, and retryd's own; in whatever case.
[[nodiscard]] bool is_reserved_header(std::string_view name);

}  // namespace retryd::model
