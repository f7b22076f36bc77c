#include "admin/server.hpp"

#include "admin/client.hpp"
#include "sample.hpp"
#include "unit/temp_folder.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <catch2/catch.hpp>

#include <unistd.h>

#include <filesystem>
#include <future>
#include <string>
#include <thread>

using namespace retryd;
using namespace retryd::admin;
using namespace std::chrono_literals;
namespace asio = boost::asio;
namespace fs = std::filesystem;

namespace {

constexpr model::Milliseconds patience = 5s;  // of our clients

// A server on a Unix socket and on TCP, with its loop on a thread of its own.
class RunningServer {
public:
    explicit RunningServer(ServerLimits limits = ServerLimits(), std::string metrics = "retryd_x 1\n")
        : server_(
              io_, seen_, [metrics] { return metrics; }, limits) {
        REQUIRE(server_.listen({socket, "", 0}, ListenerKind::admin).has_value());
        const auto tcp = server_.listen({"", "127.0.0.1", 0}, ListenerKind::metrics);
        REQUIRE(tcp.has_value());
        port = tcp->tcp_port;
        const auto guarded = server_.listen({"", "127.0.0.1", 0}, ListenerKind::admin, "a-token-of-20-letters");
        REQUIRE(guarded.has_value());
        guarded_port = guarded->tcp_port;
        thread_ = std::thread{[this] { io_.run(); }};
    }
    ~RunningServer() { stop(); }

    // Returns when no task is left: the loop has nothing more to do.
    void stop() {
        asio::post(io_, [this] { server_.stop(); });
        if (thread_.joinable()) thread_.join();
    }
    [[nodiscard]] bool stopped() const { return server_.stopped(); }
    [[nodiscard]] const std::string& drained_by() const { return seen_.drained_by; }  // when it has stopped

private:
    TempFolder folder_;

public:
    const std::string socket = folder_.path + "/admin.sock";
    const AdminAddress address{.unix_path = socket};
    std::uint16_t port = 0;
    std::uint16_t guarded_port = 0;  // an admin listener with a token

private:
    asio::io_context io_;
    samples::Operator seen_;
    AdminServer server_;
    std::thread thread_;
};

// A client that sends whatever it likes.
class RawClient {
public:
    explicit RawClient(const std::string& path) { socket_.connect(asio::local::stream_protocol::endpoint{path}); }
    // Whether all was taken.
    bool send(std::string_view text) {
        boost::system::error_code error;
        asio::write(socket_, asio::buffer(text.data(), text.size()), error);
        return !error;
    }
    // All that comes until the server closes.
    std::string read_to_end() {
        std::string text;
        boost::system::error_code error;
        asio::read(socket_, asio::dynamic_buffer(text), error);
        return text;
    }
    // One answer with a body of `ok`.
    std::string read_ok() {
        std::string text;
        char letter = 0;
        while (text.find("\r\n\r\nok\n") == std::string::npos && asio::read(socket_, asio::buffer(&letter, 1)) == 1)
            text += letter;
        return text;
    }
    auto& socket() { return socket_; }

private:
    asio::io_context io_;
    asio::local::stream_protocol::socket socket_{io_};
};

const std::string livez = "GET /livez HTTP/1.1\r\nHost: x\r\n\r\n";
const std::string last_livez = "GET /livez HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";

std::string reply_to(const std::string& socket, std::string_view text) {
    RawClient client{socket};
    client.send(text);
    return client.read_to_end();
}

std::string first_line(const std::string& text) {
    return text.substr(0, text.find('\r'));
}

}  // namespace

TEST_CASE("pages come over the Unix socket") {
    const RunningServer server;
    const auto live = get(server.address, "/livez", patience);
    REQUIRE(live.has_value());
    CHECK(live->status == 200);
    CHECK(live->body == "ok\n");
    CHECK(get(server.address, "/metrics", patience)->body == "retryd_x 1\n");
    CHECK(get(server.address, "/status", patience)->body.front() == '{');
    CHECK(get(server.address, "/nowhere", patience)->status == 404);
}

TEST_CASE("a TCP listener for metrics has neither the status nor an ear for strange hosts") {
    const RunningServer server;
    const auto ask = [&](const std::string& path, const std::string& headers) {
        asio::io_context io;
        asio::ip::tcp::socket socket{io};
        socket.connect({asio::ip::make_address("127.0.0.1"), server.port});
        asio::write(socket, asio::buffer("GET " + path + " HTTP/1.1\r\nConnection: close\r\n" + headers + "\r\n"));
        std::string text;
        boost::system::error_code error;
        asio::read(socket, asio::dynamic_buffer(text), error);
        return first_line(text);
    };
    CHECK(ask("/metrics", "Host: localhost\r\n") == "HTTP/1.1 200 OK");
    CHECK(ask("/status", "Host: localhost\r\n") == "HTTP/1.1 404 Not Found");
    CHECK(ask("/metrics", "Host: evil.example\r\n") == "HTTP/1.1 403 Forbidden");
    CHECK(ask("/metrics", "Host: localhost\r\nOrigin: https://evil.example\r\n") == "HTTP/1.1 403 Forbidden");
    CHECK(ask("/metrics", "") == "HTTP/1.1 403 Forbidden");
}

TEST_CASE("a connection is kept for further requests, sent one after the other or at once") {
    const RunningServer server;
    RawClient client{server.socket};
    client.send(livez);
    CHECK(first_line(client.read_ok()) == "HTTP/1.1 200 OK");
    client.send(livez + last_livez);
    CHECK(first_line(client.read_ok()) == "HTTP/1.1 200 OK");
    CHECK(first_line(client.read_to_end()) == "HTTP/1.1 200 OK");
}

TEST_CASE("HEAD tells the length and sends no body") {
    const RunningServer server;
    const std::string reply = reply_to(server.socket, "HEAD /livez HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    CHECK(reply.find("Content-Length: 3\r\n") != std::string::npos);
    CHECK(reply.substr(reply.size() - 4) == "\r\n\r\n");
}

TEST_CASE("a method that is not allowed is told which are, over the wire") {
    const RunningServer server;
    const std::string reply =
        reply_to(server.socket, "POST /livez HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}");
    CHECK(first_line(reply) == "HTTP/1.1 405 Method Not Allowed");
    CHECK(reply.find("Allow: GET, HEAD\r\n") != std::string::npos);
}

TEST_CASE("what is no request, or too much of one, is refused and the connection closed") {
    const RunningServer server;
    const std::string garbage = "\x16\x03\x01 this is no HTTP\r\n\r\n";
    const std::string huge_head = "GET /livez HTTP/1.1\r\nX: " + std::string(9000, 'x') + "\r\n\r\n";
    const std::string endless_line(100'000, 'x');
    const std::string said_body = "POST /livez HTTP/1.1\r\nHost: x\r\nContent-Length: 70000\r\n\r\n" + std::string(70'000, 'x');
    const std::string chunk = "POST /livez HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n20000\r\n" +
                              std::string(0x20000, 'x') + "\r\n0\r\n\r\n";
    CHECK(first_line(reply_to(server.socket, garbage)) == "HTTP/1.1 400 Bad Request");
    CHECK(first_line(reply_to(server.socket, huge_head)) == "HTTP/1.1 431 Request Header Fields Too Large");
    CHECK(first_line(reply_to(server.socket, said_body)) == "HTTP/1.1 413 Payload Too Large");
    CHECK(first_line(reply_to(server.socket, chunk)) == "HTTP/1.1 411 Length Required");
    CHECK(first_line(reply_to(server.socket, endless_line)).substr(0, 10) == "HTTP/1.1 4");
    CHECK(get(server.address, "/livez", patience)->status == 200);
}

TEST_CASE("chunks that come in small pieces are refused like whole ones") {
    const RunningServer server;
    RawClient client{server.socket};
    for (const auto piece : {"GET /livez HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n", "0\r\n", "\r", "\n"}) {
        client.send(piece);
        std::this_thread::sleep_for(20ms);
    }
    CHECK(first_line(client.read_to_end()) == "HTTP/1.1 411 Length Required");
    CHECK(get(server.address, "/livez", patience)->status == 200);
}

TEST_CASE("a client that does not finish its request in time is cut off") {
    const RunningServer server{{50ms, 32}};
    const auto start =
        GENERATE(std::string{}, std::string{"GET /livez HTT"}, std::string{"GET /livez HTTP/1.1\r\nHost: x\r\n"});
    RawClient client{server.socket};
    client.send(start);
    CHECK(client.read_to_end().empty());
    CHECK(get(server.address, "/livez", patience)->status == 200);
}

TEST_CASE("a client that does not take its answer in time is cut off") {
    const std::size_t size = 8 * 1024 * 1024;  // more than the socket's buffers hold
    const RunningServer server{{50ms, 1}, std::string(size, 'x')};
    RawClient slow{server.socket};
    slow.send("GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n");
    CHECK(get(server.address, "/livez", patience)->status == 200);  // has the one place, so the slow one has lost it
    CHECK(slow.read_to_end().size() < size);
}

TEST_CASE("clients over the limit wait until one ends") {
    const RunningServer server{{30s, 2}};
    RawClient first{server.socket};
    RawClient second{server.socket};
    first.send(livez);
    second.send(livez);
    first.read_ok();
    second.read_ok();
    auto third = std::async(std::launch::async, [&] { return reply_to(server.socket, last_livez); });
    CHECK(third.wait_for(100ms) == std::future_status::timeout);
    first.socket().close();
    CHECK(first_line(third.get()) == "HTTP/1.1 200 OK");
}

TEST_CASE("clients of one address do not keep out those of another") {
    const RunningServer server{{30s, 2}};
    RawClient first{server.socket};
    RawClient second{server.socket};
    RawClient waiting{server.socket};
    first.send(livez);
    first.read_ok();
    CHECK(get(AdminAddress{.host = "127.0.0.1", .port = server.port}, "/livez", patience)->status == 200);
}

TEST_CASE("a hundred clients that come and go leave the server well") {
    const RunningServer server;
    for (int i = 0; i < 100; ++i) RawClient{server.socket}.send(livez.substr(0, static_cast<std::size_t>(i) % livez.size()));
    CHECK(get(server.address, "/livez", patience)->status == 200);
}

TEST_CASE("a stopped server has closed its connections and removed its socket file") {
    RunningServer server{{30s, 32}};
    RawClient idle{server.socket};
    RawClient half{server.socket};
    idle.send(livez);
    idle.read_ok();
    half.send("GET /li");
    server.stop();
    CHECK(server.stopped());
    CHECK(idle.read_to_end().empty());
    CHECK(half.read_to_end().empty());
    CHECK(!fs::exists(server.socket));
}

TEST_CASE("a stopped server leaves a socket file that is not its own any more") {
    RunningServer server;
    fs::rename(server.socket, server.socket + ".old");
    asio::io_context io;
    const asio::local::stream_protocol::acceptor successor{io, {server.socket}};
    server.stop();
    CHECK(fs::is_socket(server.socket));
}

TEST_CASE("an address that cannot be opened is an error value, and the others go on") {
    asio::io_context io;
    samples::Operator seen;
    AdminServer server{io, seen, [] { return std::string{}; }};
    const TempFolder folder;
    REQUIRE(server.listen({folder.path + "/admin.sock", "", 0}, ListenerKind::admin).has_value());
    const auto twice = server.listen({folder.path + "/admin.sock", "", 0}, ListenerKind::admin);
    REQUIRE(!twice);
    CHECK(twice.error().place == "unix:" + folder.path + "/admin.sock");
    CHECK(fs::is_socket(folder.path + "/admin.sock"));
    server.stop();
    io.run();
    CHECK(server.stopped());
}

TEST_CASE("a server that dies with its loop still full takes nothing down") {
    const TempFolder folder;
    samples::Operator seen;
    asio::io_context io;
    {
        AdminServer server{io, seen, [] { return std::string{}; }};
        REQUIRE(server.listen({folder.path + "/admin.sock", "", 0}, ListenerKind::admin).has_value());
        RawClient client{folder.path + "/admin.sock"};
        io.poll();
    }
    CHECK(!fs::exists(folder.path + "/admin.sock"));
    io.run();
}

TEST_CASE("a drain over the Unix socket is told who asks for it") {
    RunningServer server;
    CHECK(post(server.address, "/drain", patience)->status == 202);
    server.stop();
    CHECK(server.drained_by() == "uid " + std::to_string(::getuid()));
}

TEST_CASE("an admin listener on TCP is answered with its token only") {
    RunningServer server;
    AdminAddress address{.host = "127.0.0.1", .port = server.guarded_port};
    CHECK(get(address, "/livez", patience)->status == 200);
    CHECK(get(address, "/status", patience)->status == 401);
    CHECK(post(address, "/drain", patience)->status == 401);
    address.token = "a-token-of-20-letterz";
    CHECK(get(address, "/status", patience)->status == 401);
    address.token = "a-token-of-20-letters";
    CHECK(get(address, "/status", patience)->status == 200);
    CHECK(post(address, "/drain", patience)->status == 202);
    server.stop();
    CHECK(server.drained_by() == "token");
}
