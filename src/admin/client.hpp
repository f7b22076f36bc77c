#pragma once
// The asking half of the admin protocol, for retryctl: one blocking request over a Unix socket or TCP.

#include "model/problem.hpp"
#include "model/time.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace retryd::admin {

// Where the daemon listens for its operator.
struct AdminAddress {
    std::string unix_path = {};  // empty: TCP
    std::string host = {};       // a name or an address without brackets
    std::uint16_t port = 0;
    std::string token = {};  // said where there is one
};
// "unix:PATH", "http://HOST:PORT": never the token.
[[nodiscard]] std::string to_text(const AdminAddress& address);

struct Answer {
    unsigned status = 0;
    std::string body;
};

// `patience` bounds each single wait for the other side. Fails with `unavailable` when nobody listens or no whole answer
// comes, with `refused` when the rights do not suffice; the sentence names the cause, the place is the address.
[[nodiscard]] model::Result<Answer> get(const AdminAddress& address, std::string_view target, model::Milliseconds patience);
[[nodiscard]] model::Result<Answer> post(const AdminAddress& address, std::string_view target, model::Milliseconds patience);

// Status and body of a whole HTTP/1 answer of a closed connection; fails on anything else, and on a body shorter than its
// Content-Length.
[[nodiscard]] model::Result<Answer> parse_answer(std::string_view text);

}  // namespace retryd::admin
