#pragma once
// Connecting to the consumer's address, over TCP or a Unix socket.

#include "model/policy.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/generic/stream_protocol.hpp>

#include <string>
#include <string_view>

namespace retryd::deliver {

using StreamSocket = boost::asio::generic::stream_protocol::socket;

inline constexpr std::chrono::seconds connect_timeout{2};  // with the name's resolution

// "unix:/run/app.sock", "127.0.0.1:8080"
[[nodiscard]] std::string to_text(const model::HttpTarget& target);

// For a log or a page: a query is not shown, it may hold a secret.
[[nodiscard]] std::string shown_path(std::string_view path);

// Returns an empty text with the socket connected, else what went wrong: "connect unix:/x: No such file or directory".
// Closing the socket ends a waiting connect; whoever does so must not rely on it staying closed, but ask again afterwards.
// `socket` outlives the coroutine.
boost::asio::awaitable<std::string> dial(StreamSocket& socket, model::HttpTarget target);

}  // namespace retryd::deliver
