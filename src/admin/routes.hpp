#pragma once
// What is answered to whom: pure functions from a request to a response, or to a command. Main loop only.
//
//   GET, HEAD  /livez /readyz /flowz   on every listener, without a token
//   GET, HEAD  /metrics                on every listener
//   GET, HEAD  /status                 on admin listeners
//   GET, HEAD  /why-not?queue=NAME     on admin listeners
//   GET, HEAD  /why?id=MESSAGE-ID      on admin listeners
//   GET, HEAD  /breakers               on admin listeners
//   POST       /drain                  on admin listeners; answers with the status
//   POST       /breaker, /pause, /resume, /throttle   on admin listeners: admin/orders
//
// An admin listener on TCP asks for its token. What changes something asks for Content-Type: application/json.

#include "ports/operator.hpp"

#include <cstdint>
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
    std::string tcp_host = {};  // as it listens; empty: a Unix socket, whose Host header means nothing
    std::string token = {};     // that it asks for; empty: none
};

struct Request {
    std::string_view method;
    std::string_view target;
    std::string_view host = {};           // the Host header, as those below; empty: none
    std::string_view content_type = {};   // Content-Type
    std::string_view authorization = {};  // Authorization
    bool has_origin = false;              // a web page sent it
    std::string_view peer = {};           // who asks, for the log: "uid 1000"
};

struct Response {
    unsigned status = 200;
    std::string body;
    std::string_view content_type = "text/plain; charset=utf-8";
    std::string_view allow = {};  // the Allow header; empty: none
    bool asks_for_token = false;  // the WWW-Authenticate header
};

using MetricsText = std::function<std::string()>;

[[nodiscard]] Response respond(const Request& request, const Door& door, ports::Operator& seen, const MetricsText& metrics);

}  // namespace retryd::admin
