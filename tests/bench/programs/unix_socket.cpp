#include "programs/unix_socket.hpp"

#include "programs/options.hpp"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

namespace retryd::bench {
namespace {

constexpr std::size_t read_size = 256 * 1024;  // bytes
constexpr std::chrono::milliseconds between_tries{5};
constexpr int backlog = 128;

sockaddr_un address_of(const std::string& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.size() >= sizeof address.sun_path) give_up("too long for a socket", path);
    std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
    return address;
}

const sockaddr* generic(const sockaddr_un& address) {
    return static_cast<const sockaddr*>(static_cast<const void*>(&address));
}

int new_socket() {
    const int descriptor = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (descriptor < 0) give_up("socket", std::strerror(errno));
    return descriptor;
}

}  // namespace

UnixSocket::UnixSocket(const std::string& path) : descriptor_(new_socket()) {
    const auto address = address_of(path);
    while (::connect(descriptor_, generic(address), sizeof address) != 0) {
        if (errno != ENOENT && errno != ECONNREFUSED) give_up(path, std::strerror(errno));
        std::this_thread::sleep_for(between_tries);
    }
}

UnixSocket::~UnixSocket() {
    if (descriptor_ >= 0) ::close(descriptor_);
}

void UnixSocket::write(std::string_view bytes) {
    while (!bytes.empty()) {
        const auto sent = ::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (sent < 0) give_up("write", std::strerror(errno));
        bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
}

bool UnixSocket::read_some(std::string& to) {
    static std::array<char, read_size> buffer;
    const auto size = ::recv(descriptor_, buffer.data(), buffer.size(), 0);
    if (size <= 0) return false;
    to.append(buffer.data(), static_cast<std::size_t>(size));
    return true;
}

UnixSocket listen_at(const std::string& path) {
    UnixSocket socket(new_socket());
    const auto address = address_of(path);
    ::unlink(path.c_str());
    if (::bind(socket.descriptor(), generic(address), sizeof address) != 0) give_up(path, std::strerror(errno));
    if (::listen(socket.descriptor(), backlog) != 0) give_up(path, std::strerror(errno));
    return socket;
}

}  // namespace retryd::bench
