#include "admin/client.hpp"

#include <netdb.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>

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
    Connection(Connection&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
    Connection& operator=(Connection&&) = delete;
    [[nodiscard]] int descriptor() const { return descriptor_; }

private:
    int descriptor_;
};

Problem failure(const AdminAddress& address, int error, std::string what) {
    const bool right = error == EACCES || error == EPERM;
    const bool silence = error == EAGAIN;
    what += silence ? "no answer in time" : std::generic_category().message(error);
    return Problem{right ? ProblemCode::refused : ProblemCode::unavailable, to_text(address), what, ""};
}

// An open socket that waits for the other side no longer than `patience`, connect() included.
Connection open_socket(int family, model::Milliseconds patience) {
    Connection connection{::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(patience);
    const timeval wait{seconds.count(), std::chrono::microseconds{patience - seconds}.count()};
    ::setsockopt(connection.descriptor(), SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait);
    ::setsockopt(connection.descriptor(), SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof wait);
    return connection;
}

Result<Connection> connect_unix(const AdminAddress& address, model::Milliseconds patience) {
    if (address.unix_path.size() >= sizeof(sockaddr_un::sun_path)) {
        return Problem{ProblemCode::bad_value, to_text(address), "the path is too long", "the system allows 107 bytes"};
    }
    sockaddr_un name{};
    name.sun_family = AF_UNIX;
    std::memcpy(name.sun_path, address.unix_path.data(), address.unix_path.size());
    Connection connection = open_socket(AF_UNIX, patience);
    if (::connect(connection.descriptor(), reinterpret_cast<const sockaddr*>(&name), sizeof name) != 0)
        return failure(address, errno == EINPROGRESS ? EAGAIN : errno, "");
    return connection;
}

// The first of the host's addresses that accepts.
Result<Connection> connect_tcp(const AdminAddress& address, model::Milliseconds patience) {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    if (const int error = ::getaddrinfo(address.host.c_str(), std::to_string(address.port).c_str(), &hints, &found); error != 0)
        return Problem{ProblemCode::unavailable, to_text(address), ::gai_strerror(error), ""};
    const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner{found, &::freeaddrinfo};
    int last_error = 0;
    for (const addrinfo* one = found; one != nullptr; one = one->ai_next) {
        Connection connection = open_socket(one->ai_family, patience);
        if (::connect(connection.descriptor(), one->ai_addr, one->ai_addrlen) == 0) return connection;
        last_error = errno == EINPROGRESS ? EAGAIN : errno;
    }
    return failure(address, last_error, "");
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

std::string request_text(const AdminAddress& address, std::string_view method, std::string_view target) {
    constexpr std::string_view scheme = "http://";
    std::string text{method};
    text.append(" ").append(target).append(" HTTP/1.1\r\nHost: ");
    text += address.unix_path.empty() ? to_text(address).substr(scheme.size()) : "localhost";
    if (!address.token.empty()) text += "\r\nAuthorization: Bearer " + address.token;
    if (method == "POST") text += "\r\nContent-Type: application/json\r\nContent-Length: 0";
    return text + "\r\nConnection: close\r\n\r\n";
}

Result<Answer> ask(const AdminAddress& address, std::string_view method, std::string_view target,
                   model::Milliseconds patience) {
    const auto connection = address.unix_path.empty() ? connect_tcp(address, patience) : connect_unix(address, patience);
    if (!connection) return connection.error();
    if (!send_all(*connection, request_text(address, method, target))) return failure(address, errno, "cannot ask: ");
    const std::optional<std::string> text = receive_all(*connection);
    if (!text) return failure(address, errno, "");
    auto answer = parse_answer(*text);
    if (!answer) return Problem{answer.error().code, to_text(address), answer.error().what, answer.error().hint};
    return answer;
}

}  // namespace

std::string to_text(const AdminAddress& address) {
    if (!address.unix_path.empty()) return "unix:" + address.unix_path;
    const bool brackets = address.host.find(':') != std::string::npos;
    return "http://" + (brackets ? "[" + address.host + "]" : address.host) + ":" + std::to_string(address.port);
}

Result<Answer> get(const AdminAddress& address, std::string_view target, model::Milliseconds patience) {
    return ask(address, "GET", target, patience);
}

Result<Answer> post(const AdminAddress& address, std::string_view target, model::Milliseconds patience) {
    return ask(address, "POST", target, patience);
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
