#include "model/reserved_headers.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>

namespace retryd::model {

bool is_reserved_header(std::string_view name) {
    static constexpr std::array<std::string_view, 11> names{"host",    "content-length", "transfer-encoding", "connection",
                                                            "te",      "keep-alive",     "proxy-connection",  "expect",
                                                            "trailer", "upgrade",        "idempotency-key"};
    std::string lower(name);
    std::transform(lower.begin(), lower.end(), lower.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return lower.starts_with("retryd-") || lower.starts_with("amqp-") ||
           std::find(names.begin(), names.end(), lower) != names.end();
}

}  // namespace retryd::model
