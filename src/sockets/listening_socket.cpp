#include "sockets/listening_socket.hpp"

#include "sockets/accounts.hpp"

#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

namespace retryd::sockets {
namespace {

using model::ListenAddress;
using model::Problem;
using model::ProblemCode;
using model::Result;

constexpr int backlog = 64;
constexpr mode_t folder_mode = 0750;
constexpr mode_t all_rights = 0777;
constexpr uid_t unchanged_owner = static_cast<uid_t>(-1);
constexpr gid_t unchanged_group = static_cast<gid_t>(-1);

class Descriptor {
public:
    explicit Descriptor(int value) : value_(value) {}
    ~Descriptor() {
        if (value_ >= 0) ::close(value_);
    }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    [[nodiscard]] int get() const { return value_; }
    [[nodiscard]] int release() { return std::exchange(value_, -1); }

private:
    int value_;
};

int open_socket(int family) {
    return ::socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
}

std::string reason(int error) {
    return std::generic_category().message(error);
}

Problem problem(const ListenAddress& address, std::string what, std::string hint = {}) {
    return Problem{ProblemCode::system, to_text(address), std::move(what), std::move(hint)};
}

sockaddr_un unix_name(const std::string& path) {
    sockaddr_un name{};
    name.sun_family = AF_UNIX;
    std::memcpy(name.sun_path, path.data(), path.size());
    return name;
}

// The sockets API takes every kind of address through this one type.
const sockaddr* generic(const sockaddr_un& name) {
    return reinterpret_cast<const sockaddr*>(&name);
}

// What connecting to the file says: 0 where somebody listens, ECONNREFUSED where the file was left behind.
int knock(const std::string& path) {
    const Descriptor probe{open_socket(AF_UNIX)};
    const sockaddr_un name = unix_name(path);
    return ::connect(probe.get(), generic(name), sizeof name) == 0 ? 0 : errno;
}

bool same_file(const struct stat& one, const struct stat& other) {
    return one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

Result<void> make_folder(const ListenAddress& address) {
    const std::filesystem::path folder = std::filesystem::path{address.unix_path}.parent_path();
    if (folder.empty() || ::mkdir(folder.c_str(), folder_mode) == 0 || errno == EEXIST) return {};
    struct stat there {};
    if (::stat(folder.c_str(), &there) == 0) return {};  // mkdir may be refused although the folder is there
    if (errno != ENOENT) return problem(address, "cannot look at the folder " + folder.string() + ": " + reason(errno));
    const std::string parent = folder.parent_path().string();
    if (::stat(parent.c_str(), &there) == 0) {
        return problem(address, "cannot make the folder " + folder.string() + " in " + parent,
                       "make it, or choose another path");
    }
    return problem(address, "the folder " + parent + " does not exist", "make it, or choose another path");
}

// Leaves the path free, or says why it may not be taken.
Result<void> clear_path(const ListenAddress& address) {
    const std::string& path = address.unix_path;
    struct stat there {};
    if (::lstat(path.c_str(), &there) != 0) {
        if (errno == ENOENT) return {};
        return problem(address, "cannot look at the path: " + reason(errno));
    }
    if (S_ISLNK(there.st_mode)) return problem(address, "a symbolic link lies there", "remove it, or choose another path");
    if (!S_ISSOCK(there.st_mode)) {
        return problem(address, "something that is not a socket lies there", "remove it, or choose another path");
    }
    const int answer = knock(path);
    if (answer == ENOENT) return {};
    if (answer != ECONNREFUSED) {
        return problem(address,
                       answer == 0 || answer == EAGAIN ? "another process listens there"
                                                       : "cannot tell whether another process listens there: " + reason(answer),
                       "stop it, or choose another path");
    }
    struct stat still {};
    if (::lstat(path.c_str(), &still) != 0 || !same_file(there, still))
        return problem(address, "the path is being changed by somebody");
    if (::unlink(path.c_str()) != 0) return problem(address, "cannot remove the stale socket: " + reason(errno));
    return {};
}

Result<void> give_away(const ListenAddress& address, const model::SocketAccess& access) {
    uid_t owner = unchanged_owner;
    gid_t group = unchanged_group;
    if (access.owner) {
        const auto known = user_id(*access.owner);
        if (!known) return problem(address, known.error().what, known.error().hint);
        owner = *known;
    }
    if (access.group) {
        const auto known = group_id(*access.group);
        if (!known) return problem(address, known.error().what, known.error().hint);
        group = *known;
    }
    if (owner == unchanged_owner && group == unchanged_group) return {};
    if (::lchown(address.unix_path.c_str(), owner, group) == 0) return {};
    return problem(address, "cannot give the socket to its owner and group: " + reason(errno));
}

Result<ListeningSocket> open_unix(const ListenAddress& address, const model::SocketAccess& access) {
    const std::string& path = address.unix_path;
    if (path.size() >= sizeof(sockaddr_un::sun_path) || path.find('\0') != std::string::npos) {
        return Problem{ProblemCode::bad_value, to_text(address), "the path has " + std::to_string(path.size()) + " bytes",
                       "the system allows 107"};
    }
    if (auto made = make_folder(address); !made) return made.error();
    if (auto free = clear_path(address); !free) return free.error();
    Descriptor descriptor{open_socket(AF_UNIX)};
    if (descriptor.get() < 0) return problem(address, "cannot open a socket: " + reason(errno));
    const sockaddr_un name = unix_name(path);
    const mode_t before = ::umask(all_rights & ~static_cast<mode_t>(access.mode));
    const int bound = ::bind(descriptor.get(), generic(name), sizeof name);
    const int error = errno;
    ::umask(before);
    if (bound != 0) return problem(address, "cannot make the socket: " + reason(error));
    struct stat made {};
    if (::lstat(path.c_str(), &made) != 0) return problem(address, "cannot find the socket that was made: " + reason(errno));
    const SocketFile file{path, made.st_dev, made.st_ino};
    if (auto given = give_away(address, access); !given) {
        remove_socket_file(file);
        return given.error();
    }
    if (::listen(descriptor.get(), backlog) != 0) {
        const int why = errno;
        remove_socket_file(file);
        return problem(address, "cannot listen: " + reason(why));
    }
    return ListeningSocket{descriptor.release(), AF_UNIX, address, file};
}

std::uint16_t port_of(int descriptor) {
    sockaddr_storage name{};
    socklen_t size = sizeof name;
    if (::getsockname(descriptor, reinterpret_cast<sockaddr*>(&name), &size) != 0) return 0;
    if (name.ss_family == AF_INET6) return ntohs(reinterpret_cast<const sockaddr_in6&>(name).sin6_port);
    return ntohs(reinterpret_cast<const sockaddr_in&>(name).sin_port);
}

Result<ListeningSocket> open_tcp(const ListenAddress& address) {
    addrinfo wanted{};
    wanted.ai_socktype = SOCK_STREAM;
    wanted.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
    addrinfo* list = nullptr;
    const int looked_up = ::getaddrinfo(address.tcp_host.c_str(), std::to_string(address.tcp_port).c_str(), &wanted, &list);
    if (looked_up != 0) return problem(address, std::string{"cannot look up the address: "} + ::gai_strerror(looked_up));
    const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner{list, &::freeaddrinfo};
    int error = 0;
    for (const addrinfo* one = list; one != nullptr; one = one->ai_next) {
        Descriptor descriptor{open_socket(one->ai_family)};
        const int on = 1;
        ::setsockopt(descriptor.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
        if (::bind(descriptor.get(), one->ai_addr, one->ai_addrlen) == 0 && ::listen(descriptor.get(), backlog) == 0) {
            ListenAddress opened = address;
            opened.tcp_port = port_of(descriptor.get());
            return ListeningSocket{descriptor.release(), one->ai_family, opened, std::nullopt};
        }
        error = errno;
    }
    return problem(address, "cannot listen: " + reason(error));
}

}  // namespace

Result<ListeningSocket> open_listening_socket(const ListenAddress& address, const model::SocketAccess& access) {
    return address.unix_path.empty() ? open_tcp(address) : open_unix(address, access);
}

void remove_socket_file(const SocketFile& file) {
    struct stat there {};
    if (::lstat(file.path.c_str(), &there) != 0) return;
    if (there.st_dev == file.device && there.st_ino == file.inode) ::unlink(file.path.c_str());
}

std::string to_text(const ListenAddress& address) {
    if (!address.unix_path.empty()) return "unix:" + address.unix_path;
    const bool v6 = address.tcp_host.find(':') != std::string::npos;
    return (v6 ? "[" + address.tcp_host + "]" : address.tcp_host) + ":" + std::to_string(address.tcp_port);
}

}  // namespace retryd::sockets
