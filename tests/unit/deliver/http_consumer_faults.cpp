// The HTTP consumer where things break: what counts as lost, what as unavailable, and what is reported never.
#include "deliver/http_consumer.hpp"
#include "model/header_table.hpp"
#include "model/properties.hpp"
#include "unit/deliver/house.hpp"

#include <catch2/catch.hpp>

#include <cstring>
#include <filesystem>
#include <optional>

using namespace retryd;
using namespace scripted;
using Kind = model::Reply::Kind;

namespace {

asio::awaitable<void> say_nothing(Peer& peer) {
    co_await peer.request();
    co_await peer.until_ended();
}

model::HttpTarget unix_target(const std::string& path) {
    model::HttpTarget target;
    target.unix_path = path;
    return target;
}

// Takes a socket's place in the file system without accepting: at most that many may wait.
class DeafListener {
public:
    DeafListener(const asio::generic::stream_protocol::endpoint& endpoint, int backlog) : acceptor_(io_) {
        acceptor_.open(asio::generic::stream_protocol(endpoint.protocol().family(), 0));
        acceptor_.bind(endpoint);
        acceptor_.listen(backlog);
    }
    Server::Acceptor& acceptor() { return acceptor_; }

private:
    asio::io_context io_;
    Server::Acceptor acceptor_;
};

}  // namespace

TEST_CASE("a reply that breaks off is lost") {
    static std::string part;
    part = GENERATE("", "HTTP/1.1 200", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab",
                    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n", "HTTP/1.1 100 Continue\r\n\r\n");
    const bool reused = GENERATE(false, true);
    CAPTURE(part, reused);
    House house;
    const auto server = Server::over_tcp(house.io, [](Peer& peer) -> asio::awaitable<void> {
        for (;;) {
            co_await peer.request();
            if (peer.record->requests.back().ends_with("break")) break;
            co_await peer.say(ok);
        }
        co_await peer.say(part);
    });
    house.consume_with(server.target());
    if (reused) house.reply_to(house.send());
    const auto reply = house.reply_to(house.send("break"));
    CHECK(reply.kind == Kind::lost);
    CHECK(reply.error_type == "retryd.Lost");
    CHECK_FALSE(reply.error_message.empty());
    house.settle();
    CHECK(server.record().connections == 1);
}

TEST_CASE("after a loss on a reused connection none is used twice for a while") {
    House house;
    const auto server = Server::over_tcp(house.io, [](Peer& peer) -> asio::awaitable<void> {
        for (;;) {
            co_await peer.request();
            if (peer.record->requests.back().ends_with("break")) break;
            co_await peer.say(ok);
        }
    });
    house.consume_with(server.target());
    house.reply_to(house.send());
    CHECK(house.reply_to(house.send("break")).kind == Kind::lost);
    house.reply_to(house.send());
    house.reply_to(house.send());
    CHECK(server.record().connections == 3);
}

TEST_CASE("a reply that is not HTTP is lost and its connection closed") {
    House house;
    const auto server = Server::over_unix(house.io, house.folder.socket(), [](Peer& peer) -> asio::awaitable<void> {
        co_await peer.request();
        co_await peer.say("SSH-2.0-OpenSSH\r\n");
        co_await peer.until_ended();
    });
    house.consume_with(server.target());
    const auto reply = house.reply_to(house.send());
    CHECK(reply.kind == Kind::lost);
    CHECK(reply.error_message == "bad reply: bad version");
    house.run_until([&] { return server.record().finished == 1; });
}

TEST_CASE("of a body without end the status decides and the connection is closed") {
    House house;
    const auto server = Server::over_tcp(house.io, [](Peer& peer) -> asio::awaitable<void> {
        co_await peer.request();
        co_await peer.say("HTTP/1.1 507 Full\r\nTransfer-Encoding: chunked\r\n\r\n");
        const std::string chunk = "100\r\n" + std::string(256, 'x') + "\r\n";
        for (;;) {
            const auto buffer = asio::buffer(chunk);
            const auto [error, size] = co_await asio::async_write(peer.socket, buffer, nothrow);
            if (error) co_return;
        }
    });
    house.consume_with(server.target());
    const auto reply = house.reply_to(house.send());
    CHECK(reply.kind == Kind::answered);
    CHECK(reply.status == 507);
    house.run_until([&] { return server.record().finished == 1; });
}

TEST_CASE("a reply that comes before the body was taken counts") {
    House house;
    const bool close_at_once = GENERATE(false, true);
    const Script refuse_and_close = [](Peer& peer) -> asio::awaitable<void> {
        co_await peer.say("HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n");
    };
    const Script refuse_and_wait = [](Peer& peer) -> asio::awaitable<void> {
        co_await peer.say("HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n");
        co_await peer.hang();
    };
    const auto server = Server::over_unix(house.io, house.folder.socket(), close_at_once ? refuse_and_close : refuse_and_wait);
    house.consume_with(server.target());
    const auto reply = house.reply_to(house.send(std::string(64 * 1024 * 1024, 'x')));
    CHECK(reply.kind == Kind::answered);
    CHECK(reply.status == 413);
}

TEST_CASE("a missing socket is unavailable, by name") {
    House house;
    const auto path = house.folder.socket();
    house.consume_with(unix_target(path));
    const auto reply = house.reply_to(house.send());
    CHECK(reply.kind == Kind::unavailable);
    CHECK(reply.error_type == "retryd.Unavailable");
    CHECK(reply.error_message == "connect unix:" + path + ": No such file or directory");
    CHECK(house.probe_result() == "connect unix:" + path + ": No such file or directory");
}

TEST_CASE("a socket's path that is too long is unavailable") {
    House house;
    house.consume_with(unix_target("/" + std::string(200, 'x')));
    CHECK(house.reply_to(house.send()).kind == Kind::unavailable);
    CHECK(house.probe_result().ends_with("File name too long"));
}

TEST_CASE("a port where nobody listens is unavailable") {
    House house;
    std::optional<Server> server(Server::over_tcp(house.io, answer_all));
    const auto target = server->target();
    server.reset();
    house.consume_with(target);
    const auto reply = house.reply_to(house.send());
    CHECK(reply.kind == Kind::unavailable);
    CHECK(reply.error_message == "connect 127.0.0.1:" + std::to_string(target.tcp_port) + ": Connection refused");
}

TEST_CASE("a full backlog is unavailable, not a message half sent") {
    House house;
    const auto path = house.folder.socket();
    DeafListener listener(asio::local::stream_protocol::endpoint(path), 0);
    house.consume_with(unix_target(path));
    house.send();  // waits in the backlog
    const auto reply = house.reply_to(house.send());
    CHECK(reply.kind == Kind::unavailable);
    CHECK(reply.error_message == "connect unix:" + path + ": Resource temporarily unavailable");
}

TEST_CASE("a connect that nobody answers is given up after a while") {
    House house;
    DeafListener listener(asio::ip::tcp::endpoint(asio::ip::address_v4::loopback(), 0), 0);
    const auto bound = listener.acceptor().local_endpoint();
    asio::ip::tcp::endpoint address;
    std::memcpy(address.data(), bound.data(), bound.size());
    model::HttpTarget target;
    target.tcp_host = "127.0.0.1";
    target.tcp_port = address.port();
    house.consume_with(target);
    house.send();  // waits in the backlog
    const auto reply = house.reply_to(house.send());
    CHECK(reply.kind == Kind::unavailable);
    CHECK(reply.error_message == "connect 127.0.0.1:" + std::to_string(address.port()) + ": timed out");
}

TEST_CASE("a consumer that comes back on the same path is found") {
    House house;
    const auto path = house.folder.socket();
    std::optional<Server> first(Server::over_unix(house.io, path, answer_all));
    house.consume_with(first->target());
    CHECK(house.reply_to(house.send()).status == 200);
    first.reset();
    CHECK(house.reply_to(house.send()).status == 200);  // on the connection that stands
    std::filesystem::remove(path);
    const auto second = Server::over_unix(house.io, path, answer_all);
    house.run_until([&] { return house.probe_result().empty(); });
    house.send();
    house.send();
    house.run_until([&] { return house.replies.size() == 4; });
    CHECK(second.record().connections >= 1);
}

TEST_CASE("a probe connects, sends nothing, and leaves its connection to the next message") {
    House house;
    const auto server = Server::over_unix(house.io, house.folder.socket(), answer_all);
    house.consume_with(server.target());
    CHECK(house.probe_result().empty());
    CHECK(house.reply_to(house.send()).status == 200);
    CHECK(server.record().requests.size() == 1);
    CHECK(server.record().connections == 1);
}

TEST_CASE("what was abandoned is never answered, and its connection is gone") {
    House house;
    const auto server = Server::over_unix(house.io, house.folder.socket(), [](Peer& peer) -> asio::awaitable<void> {
        co_await peer.request();
        if (peer.number == 1) {
            co_await peer.until_ended();
            co_await peer.say(ok);
        } else {
            co_await peer.say("HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n");
        }
    });
    house.consume_with(server.target());
    const auto late = house.send();
    house.run_until([&] { return server.record().requests.size() == 1; });
    house.abandon(late);
    CHECK(house.reply_to(house.send()).status == 201);
    house.run_until([&] { return server.record().finished == 2; });
    house.settle();
    CHECK_FALSE(house.replies.contains(late));
}

TEST_CASE("abandoning before the connection stands, twice, or for nobody is fine") {
    House house;
    const auto server = Server::over_tcp(house.io, answer_all);
    house.consume_with(server.target());
    const auto early = house.send();
    house.abandon(early);
    house.abandon(early);
    house.abandon({99});
    CHECK(house.reply_to(house.send()).status == 200);
    house.settle();
    CHECK_FALSE(house.replies.contains(early));
    CHECK(server.record().requests.size() == 1);
}

TEST_CASE("abandoning amid a large body is fine") {
    House house;
    const auto server = Server::over_unix(house.io, house.folder.socket(), [](Peer& peer) -> asio::awaitable<void> {
        if (peer.number == 1) {
            co_await peer.hang();
        } else {
            co_await answer_all(peer);
        }
    });
    house.consume_with(server.target());
    const auto large = house.send(std::string(64 * 1024 * 1024, 'x'));
    house.run_until([&] { return server.record().connections == 1; });
    house.abandon(large);
    CHECK(house.reply_to(house.send()).status == 200);
    CHECK_FALSE(house.replies.contains(large));
}

TEST_CASE("a consumer adapter that goes reports nothing more, whatever it was doing") {
    House house;
    const auto server = Server::over_tcp(house.io, say_nothing);
    house.consume_with(server.target());
    house.send();
    house.run_until([&] { return server.record().requests.size() == 1; });
    house.send();
    house.probe();
    house.consumer.reset();
    house.run_until([&] { return server.record().finished == server.record().connections; });
    house.settle();
    CHECK(house.replies.empty());
    CHECK(house.probes.empty());
}

TEST_CASE("a message with 64 KiB of headers is delivered with what has room") {
    House house;
    const auto server = Server::over_unix(house.io, house.folder.socket(), answer_all);
    house.consume_with(server.target());
    model::TableWriter table;
    for (int i = 0; i < 64; ++i) table.add_string("h" + std::to_string(i), std::string(1024, 'v'));
    model::Properties properties;
    properties.headers = table.bytes();
    CHECK(house.reply_to(house.send("hello", model::write_properties(properties))).status == 200);
    CHECK(server.record().requests.at(0).size() < 16 * 1024 + 5);
    CHECK(server.record().requests[0].find("\r\nRetryd-Headers-Omitted: ") != std::string::npos);
}

TEST_CASE("a reply with a head of 60 KiB and a long reason is read") {
    House house;
    const auto server = Server::over_tcp(house.io, [](Peer& peer) -> asio::awaitable<void> {
        co_await peer.request();
        co_await peer.say("HTTP/1.1 422 " + std::string(10'000, 'r') + "\r\nX: " + std::string(50'000, 'x') +
                          "\r\n\r\n<html>\r\n");
    });
    house.consume_with(server.target());
    CHECK(house.reply_to(house.send()).status == 422);
}
