#pragma once
// HOST:PORT, [IPv6]:PORT, unix:PATH and http://… as the policy file writes them.

#include "model/policy.hpp"
#include "model/problem.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace retryd::policyfile {

inline constexpr std::size_t longest_socket_path = 107;  // sun_path less its final zero

struct HostPort {
    std::string host;  // without brackets
    bool brackets = false;
    std::optional<std::uint16_t> port;
};
// Problems don't repeat the text.
[[nodiscard]] model::Result<HostPort> parse_host_port(std::string_view text);

// A name, or an address without brackets.
[[nodiscard]] bool is_host(std::string_view text);

// A path for a Unix socket, given without `unix:`: absolute, at most 107 bytes.
[[nodiscard]] model::Result<std::string> parse_socket_path(std::string_view path);

// http://HOST[:PORT][/path?query] or unix:PATH. `path` is "/" where the text has none.
[[nodiscard]] model::Result<model::HttpTarget> parse_http_target(std::string_view text);

// unix:PATH, for the consumer's processes to come to.
[[nodiscard]] model::Result<std::string> parse_stream_address(std::string_view text);

// What keeps a text from being the path of a request line; nothing when it is fit.
[[nodiscard]] std::optional<model::Problem> request_path_trouble(std::string_view path);

// HOST:PORT to listen on.
[[nodiscard]] model::Result<model::ListenAddress> parse_tcp_listen(std::string_view text);
[[nodiscard]] bool is_wildcard(const model::ListenAddress& address);

}  // namespace retryd::policyfile
