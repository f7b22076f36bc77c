#pragma once
// A consumer for tests that does on each connection what a coroutine tells it to, on the test's own loop.
//
//   asio::awaitable<void> rude(Peer& peer) { co_await peer.request(); co_await peer.say("go away"); }
//   Server server(io, Place::unix_socket, rude);

#include "model/policy.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include <catch2/catch.hpp>

#include <array>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace scripted {

namespace asio = boost::asio;
inline constexpr auto nothrow = asio::as_tuple(asio::use_awaitable);

// A folder for sockets, gone with its owner.
class Folder {
public:
    Folder() {
        std::string name = (std::filesystem::temp_directory_path() / "retryd-test-XXXXXX").string();
        REQUIRE(::mkdtemp(name.data()) != nullptr);
        path_ = name;
    }
    ~Folder() { std::filesystem::remove_all(path_); }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    [[nodiscard]] std::string socket() const { return path_ / "app.sock"; }

private:
    std::filesystem::path path_;
};

// What the server saw.
struct Record {
    std::vector<std::string> requests;  // whole ones
    std::size_t connections = 0;
    std::size_t finished = 0;  // scripts that came to their end
};

// One accepted connection, from the consumer's side. It is closed when its script ends.
struct Peer {
    asio::generic::stream_protocol::socket socket;
    std::shared_ptr<Record> record;
    std::size_t number;  // of this server's connections, from 1
    std::string unread = {};

    // Reads one whole request and notes it; false where the stream ended before.
    asio::awaitable<bool> request() {
        std::size_t size = std::string::npos;
        while (unread.size() < size) {
            const auto before = unread.size();
            unread.resize(before + 256 * 1024);
            const auto buffer = asio::buffer(unread) + before;
            const auto [error, count] = co_await socket.async_read_some(buffer, nothrow);
            unread.resize(before + count);
            if (error) co_return false;
            if (size == std::string::npos) size = announced_size();
        }
        record->requests.push_back(unread.substr(0, size));
        unread.erase(0, size);
        co_return true;
    }
    asio::awaitable<void> say(std::string text) {
        const auto buffer = asio::buffer(text);
        co_await asio::async_write(socket, buffer, nothrow);
    }
    asio::awaitable<void> until_ended() {
        std::array<char, 4096> space{};
        const auto buffer = asio::buffer(space);
        for (;;) {
            const auto [error, count] = co_await socket.async_read_some(buffer, nothrow);
            if (error) co_return;
        }
    }
    // Neither reads nor writes any more, nor ends.
    asio::awaitable<void> hang() {
        asio::steady_timer never(socket.get_executor());
        never.expires_at(asio::steady_timer::time_point::max());
        co_await never.async_wait(nothrow);
    }

private:
    [[nodiscard]] std::size_t announced_size() const {
        const auto end = unread.find("\r\n\r\n");
        const std::string name = "\r\nContent-Length: ";
        const auto length = unread.find(name);
        if (end == std::string::npos) return std::string::npos;
        if (length == std::string::npos) return end + 4;
        return end + 4 + std::stoul(unread.substr(length + name.size()));
    }
};

using Script = asio::awaitable<void> (*)(Peer& peer);

class Server {
public:
    using Acceptor = asio::basic_socket_acceptor<asio::generic::stream_protocol>;

    static Server over_tcp(asio::io_context& io, Script script) {
        Server server(io, asio::ip::tcp::endpoint(asio::ip::address_v4::loopback(), 0), script);
        const auto bound = server.acceptor_->local_endpoint();
        asio::ip::tcp::endpoint address;
        std::memcpy(address.data(), bound.data(), bound.size());
        server.target_.tcp_host = "127.0.0.1";
        server.target_.tcp_port = address.port();
        return server;
    }
    static Server over_unix(asio::io_context& io, const std::string& path, Script script) {
        Server server(io, asio::local::stream_protocol::endpoint(path), script);
        server.target_.unix_path = path;
        return server;
    }
    Server(Server&&) = default;
    ~Server() {
        if (acceptor_) acceptor_->close();
    }

    [[nodiscard]] const retryd::model::HttpTarget& target() const { return target_; }
    [[nodiscard]] const Record& record() const { return *record_; }

private:
    Server(asio::io_context& io, const asio::generic::stream_protocol::endpoint& endpoint, Script script)
        : acceptor_(std::make_shared<Acceptor>(io, endpoint)) {
        target_.host = "localhost";
        asio::co_spawn(io, accept_all(acceptor_, record_, script), asio::detached);
    }
    static asio::awaitable<void> accept_all(std::shared_ptr<Acceptor> acceptor, std::shared_ptr<Record> record, Script script) {
        for (;;) {
            auto [error, socket] = co_await acceptor->async_accept(nothrow);
            if (error) co_return;
            const auto peer = std::make_shared<Peer>(Peer{std::move(socket), record, ++record->connections});
            asio::co_spawn(acceptor->get_executor(), play(peer, script), asio::detached);
        }
    }
    static asio::awaitable<void> play(std::shared_ptr<Peer> peer, Script script) {
        auto& ours = *peer;
        co_await script(ours);
        peer->socket.close();
        ++peer->record->finished;
    }

    retryd::model::HttpTarget target_;
    std::shared_ptr<Record> record_ = std::make_shared<Record>();
    std::shared_ptr<Acceptor> acceptor_;
};

}  // namespace scripted
