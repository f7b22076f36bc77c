#include "admin/client.hpp"

#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>
#include <optional>
#include <system_error>

namespace retryd::admin {
namespace {

using model::Problem;
using model::ProblemCode;
using model::Result;

constexpr std::size_t answer_limit = 64 * 1024 * 1024;

class Connection {
public:
    explicit Connection(int descriptor) : descriptor_(descriptor) {}
    ~Connection() {
        if (descriptor_ >= 0) ::close(descriptor_);
    }
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;
    [[nodiscard]] int descriptor() const { return descriptor_; }

private:
    int descriptor_;
};

Problem failure(const std::string& path, int error, std::string what) {
    const bool right = error == EACCES || error == EPERM;
    const bool silence = error == EAGAIN;
    what += silence ? "no answer in time" : std::generic_category().message(error);
    return Problem{right ? ProblemCode::refused : ProblemCode::unavailable, "unix:" + path, what, ""};
}

bool connect_to(const Connection& connection, const std::string& path, model::Milliseconds patience) {
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(patience);
    const timeval wait{seconds.count(), std::chrono::microseconds{patience - seconds}.count()};
    ::setsockopt(connection.descriptor(), SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait);
    ::setsockopt(connection.descriptor(), SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof wait);  // also bounds connect()
    sockaddr_un name{};
    name.sun_family = AF_UNIX;
    std::memcpy(name.sun_path, path.data(), path.size());
    return ::connect(connection.descriptor(), reinterpret_cast<const sockaddr*>(&name), sizeof name) == 0;
}

bool send_all(const Connection& connection, std::string_view text) {
    while (!text.empty()) {
        const ssize_t sent = ::send(connection.descriptor(), text.data(), text.size(), MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR) continue;
        if (sent < 0) return false;
        text.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
}

std::optional<std::string> receive_all(const Connection& connection) {
    std::string text;
    std::array<char, 16 * 1024> part{};
    while (text.size() < answer_limit) {
        const ssize_t received = ::recv(connection.descriptor(), part.data(), part.size(), 0);
        if (received < 0 && errno == EINTR) continue;
        if (received < 0) return std::nullopt;
        if (received == 0) break;
        text.append(part.data(), static_cast<std::size_t>(received));
    }
    return text;
}

// The number at the head of `text`, if that is what it begins with.
template <class Number>
std::optional<Number> number(std::string_view text) {
    Number value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{}) return std::nullopt;
    return value;
}

}  // namespace

Result<Answer> get(const std::string& socket_path, std::string_view target, model::Milliseconds patience) {
    if (socket_path.size() >= sizeof(sockaddr_un::sun_path)) {
        return Problem{ProblemCode::bad_value, "unix:" + socket_path, "the path is too long", "the system allows 107 bytes"};
    }
    const Connection connection{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    if (connection.descriptor() < 0) return failure(socket_path, errno, "cannot open a socket: ");
    if (!connect_to(connection, socket_path, patience)) return failure(socket_path, errno, "");
    std::string request = "GET ";
    request.append(target).append(" HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    if (!send_all(connection, request)) return failure(socket_path, errno, "cannot ask: ");
    const std::optional<std::string> text = receive_all(connection);
    if (!text) return failure(socket_path, errno, "");
    auto answer = parse_answer(*text);
    if (!answer) return Problem{answer.error().code, "unix:" + socket_path, answer.error().what, answer.error().hint};
    return answer;
}

Result<Answer> parse_answer(std::string_view text) {
    const Problem unfit{ProblemCode::unavailable, "", "no whole answer came", ""};
    constexpr std::string_view version = "HTTP/1.1 ";
    constexpr std::string_view length_name = "\r\nContent-Length: ";
    const std::size_t head_end = text.find("\r\n\r\n");
    if (text.substr(0, version.size()) != version || head_end == std::string_view::npos) return unfit;
    const std::string_view head = text.substr(0, head_end);
    const std::string_view body = text.substr(head_end + 4);
    const auto status = number<unsigned>(head.substr(version.size()));
    const std::size_t length_at = head.find(length_name);
    if (!status || length_at == std::string_view::npos) return unfit;
    const auto length = number<std::size_t>(head.substr(length_at + length_name.size()));
    if (!length || body.size() != *length) return unfit;
    return Answer{*status, std::string{body}};
}

}  // namespace retryd::admin
