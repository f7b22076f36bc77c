#pragma once
// The asking half of the admin protocol, for retryctl: one blocking GET over a Unix socket.

#include "model/problem.hpp"
#include "model/time.hpp"

#include <string>
#include <string_view>

namespace retryd::admin {

struct Answer {
    unsigned status = 0;
    std::string body;
};

// `patience` bounds each single wait for the other side. Fails with `unavailable` when nobody listens or no whole answer
// comes, with `refused` when the rights do not suffice; the sentence names the cause, the place is the address.
[[nodiscard]] model::Result<Answer> get(const std::string& socket_path, std::string_view target, model::Milliseconds patience);

// Status and body of a whole HTTP/1 answer of a closed connection; fails on anything else, and on a body shorter than its
// Content-Length.
[[nodiscard]] model::Result<Answer> parse_answer(std::string_view text);

}  // namespace retryd::admin
