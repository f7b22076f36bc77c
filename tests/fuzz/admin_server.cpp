// The admin server over its socket, fed with anything: it answers or hangs up, every answer is whole, and nothing changes
// without the token.

#include "admin/server.hpp"
#include "fuzz/input.hpp"
#include "fuzz/operators.hpp"

#include <boost/asio/io_context.hpp>

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <string>

using namespace retryd;
using fuzz::require;

namespace {

constexpr std::string_view token = "Zq7token";

const std::string& socket_path() {
    static const std::string path =
        (std::filesystem::temp_directory_path() / ("retryd-fuzz-" + std::to_string(::getpid()))).string();
    return path;
}

class Client {
public:
    Client() : socket_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        std::strncpy(address.sun_path, socket_path().c_str(), sizeof address.sun_path - 1);
        require(::connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0, "the server listens");
    }
    ~Client() { ::close(socket_); }
    Client(const Client&) = delete;
    Client& operator=(const Client&) = delete;

    void say(std::string_view bytes) const {
        static_cast<void>(::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT));
    }
    void hang_up() const { ::shutdown(socket_, SHUT_WR); }
    // What has come so far; false at the end.
    bool hear(std::string& heard) const {
        std::array<char, 16 * 1024> piece{};
        ssize_t size = 0;
        while ((size = ::recv(socket_, piece.data(), piece.size(), MSG_DONTWAIT)) > 0)
            heard.append(piece.data(), static_cast<std::size_t>(size));
        return size != 0;
    }

private:
    int socket_;
};

// Every answer is a head of HTTP with the length of its body; there may be several. An answer to HEAD has none.
void check(std::string_view answers, bool asked_for_heads) {
    while (!answers.empty()) {
        require(answers.starts_with("HTTP/1.1 "), "an answer is one of HTTP");
        const auto end = answers.find("\r\n\r\n");
        require(end != std::string_view::npos, "an answer's head ends");
        const auto head = answers.substr(0, end + 2);
        answers.remove_prefix(end + 4);
        constexpr std::string_view name = "\r\nContent-Length: ";
        const auto length = head.find(name);
        require(length != std::string_view::npos, "an answer says its length");
        const auto size = std::stoul(std::string(head.substr(length + name.size())));
        if (asked_for_heads && answers.starts_with("HTTP/1.1 ")) continue;
        require(asked_for_heads || size <= answers.size(), "an answer is whole");
        answers.remove_prefix(std::min<std::size_t>(size, answers.size()));
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::Input in(data, size);
    const auto cuts = in.number(8);
    const auto words = in.rest();
    fuzz::Operator daemon;
    daemon.view.queues.resize(1);
    daemon.view.queues[0].name.value = "orders";
    boost::asio::io_context io;
    admin::AdminServer server(io, daemon, [] { return std::string("up 1\n"); });
    require(server.listen({socket_path(), "", 0}, admin::ListenerKind::admin, std::string(token)).has_value(), "it listens");

    const Client client;
    std::string heard;
    fuzz::in_pieces(words.substr(0, 512), cuts, [&](std::string_view piece) {
        client.say(piece);
        io.poll();
        return true;
    });
    client.say(words.substr(std::min<std::size_t>(512, words.size())));
    client.hang_up();
    while (client.hear(heard)) require(io.run_one_for(std::chrono::seconds{20}) > 0, "whoever hangs up is let go");
    check(heard, words.find("HEAD") != std::string_view::npos);
    require((daemon.drains == 0 && daemon.orders == 0) || words.find(token) != std::string_view::npos,
            "nothing changes without the token");
    server.stop();
    io.poll();
    return 0;
}
