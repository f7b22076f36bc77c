#pragma once
// What is answered to whom: pure functions from a request to a response. Main loop only.
//
//   GET, HEAD  /livez /readyz /flowz /metrics   on every listener
//   GET, HEAD  /status                          on admin listeners

#include "ports/operator.hpp"

#include <functional>
#include <string>
#include <string_view>

namespace retryd::admin {

enum class ListenerKind : std::uint8_t {
    admin,    // every route
    metrics,  // what may be read without a right: /metrics, /livez, /readyz, /flowz
};

// The listener that a request came in by.
struct Door {
    ListenerKind kind = ListenerKind::admin;
    std::string tcp_host;  // as it listens; empty: a Unix socket, whose Host header means nothing
};

struct Request {
    std::string_view method;
    std::string_view target;
    std::string_view host;    // the Host header; empty: none
    bool has_origin = false;  // a web page sent it
};

struct Response {
    unsigned status = 200;
    std::string body;
    std::string_view content_type = "text/plain; charset=utf-8";
    std::string_view allow = {};  // the Allow header; empty: none
};

using MetricsText = std::function<std::string()>;

[[nodiscard]] Response respond(const Request& request, const Door& door, const ports::Operator& seen,
                               const MetricsText& metrics);

// An address literal, `localhost` or the host that we listen as: no name that a stranger's DNS could point at us.
[[nodiscard]] bool is_our_host(std::string_view host_header, const Door& door);

}  // namespace retryd::admin
