#pragma once
// Who may ask: the Host header that keeps foreign names out, and the token that an admin address over TCP asks for.

#include <string_view>

namespace retryd::admin {

// An address literal, `localhost` or `own_name` (the host that we listen as): no name that a stranger's DNS could point at us.
[[nodiscard]] bool is_our_host(std::string_view host_header, std::string_view own_name);

// An address that only this machine reaches: localhost, ::1, 127.0.0.0/8.
[[nodiscard]] bool is_loopback(std::string_view host);

// Whether an Authorization header is "Bearer TOKEN". How long it takes says nothing about where it differs.
[[nodiscard]] bool bears_token(std::string_view authorization, std::string_view token);

// Whether a Content-Type header says JSON, which no plain form of a web page can send.
[[nodiscard]] bool is_json(std::string_view content_type);

}  // namespace retryd::admin
