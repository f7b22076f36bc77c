#include "deliver/http_consumer.hpp"

#include "unit/deliver/house.hpp"

#include <catch2/catch.hpp>

using namespace retryd;
using namespace scripted;
using Kind = model::Reply::Kind;

namespace {

asio::awaitable<void> answer_one(Peer& peer) {
    co_await peer.request();
    co_await peer.say(ok);
}

}  // namespace

TEST_CASE("a message is posted and its reply reported, over TCP") {
    House house;
    const auto server = Server::over_tcp(house.io, answer_all);
    house.consume_with(server.target());
    const auto reply = house.reply_to(house.send("the body"));
    CHECK(reply.kind == Kind::answered);
    CHECK(reply.status == 200);
    REQUIRE(server.record().requests.size() == 1);
    CHECK(server.record().requests[0].starts_with("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 8\r\n"));
    CHECK(server.record().requests[0].ends_with("\r\n\r\nthe body"));
}

TEST_CASE("a message is posted and its reply reported, over a Unix socket") {
    House house;
    const auto server = Server::over_unix(house.io, house.folder.socket(), answer_all);
    house.consume_with(server.target());
    CHECK(house.reply_to(house.send("the body")).status == 200);
    REQUIRE(server.record().requests.size() == 1);
    CHECK(server.record().requests[0].ends_with("\r\n\r\nthe body"));
}

TEST_CASE("a target given by name is resolved") {
    House house;
    const auto server = Server::over_tcp(house.io, answer_all);
    auto target = server.target();
    target.tcp_host = "localhost";
    house.consume_with(target);
    CHECK(house.reply_to(house.send()).status == 200);
}

TEST_CASE("messages one after the other share a connection, an empty body among them") {
    House house;
    const auto server = Server::over_unix(house.io, house.folder.socket(), answer_all);
    house.consume_with(server.target());
    for (const auto* body : {"one", "", "three"}) CHECK(house.reply_to(house.send(body)).status == 200);
    CHECK(server.record().requests.size() == 3);
    CHECK(server.record().connections == 1);
    CHECK(server.record().requests[1].ends_with("\r\n\r\n"));
}

TEST_CASE("messages at once have a connection each, and no more") {
    House house;
    const auto server = Server::over_unix(house.io, house.folder.socket(), answer_all);
    house.consume_with(server.target());
    for (int round = 0; round < 10; ++round) {
        for (int i = 0; i < 8; ++i) house.send();
        house.run_until([&] { return house.replies.size() == house.last_key; });
    }
    CHECK(server.record().requests.size() == 80);
    CHECK(server.record().connections == 8);
}

TEST_CASE("a body of 64 MiB arrives whole") {
    House house;
    const auto server = Server::over_unix(house.io, house.folder.socket(), answer_all);
    house.consume_with(server.target());
    std::string body(64 * 1024 * 1024, 'x');
    body.back() = 'y';
    CHECK(house.reply_to(house.send(body)).status == 200);
    CHECK(server.record().requests.at(0).ends_with("xxy"));
    CHECK(server.record().requests[0].size() > body.size());
}

TEST_CASE("redirects are reported, not followed") {
    House house;
    const auto server = Server::over_unix(house.io, house.folder.socket(), [](Peer& peer) -> asio::awaitable<void> {
        co_await peer.request();
        co_await peer.say("HTTP/1.1 302 Found\r\nLocation: /other\r\nContent-Length: 0\r\n\r\n");
    });
    house.consume_with(server.target());
    CHECK(house.reply_to(house.send()).status == 302);
    house.settle();
    CHECK(server.record().requests.size() == 1);
}

TEST_CASE("interim replies belong to no message, not even to the next one") {
    House house;
    const auto server = Server::over_unix(house.io, house.folder.socket(), [](Peer& peer) -> asio::awaitable<void> {
        for (;;) {
            const bool asked = co_await peer.request();
            if (!asked) co_return;
            co_await peer.say("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\n\r\n");
            if (peer.record->requests.size() == 1) {
                co_await peer.say("HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n");
            } else {
                co_await peer.say(ok);
            }
        }
    });
    house.consume_with(server.target());
    CHECK(house.reply_to(house.send()).status == 503);
    CHECK(house.reply_to(house.send()).status == 200);
    CHECK(server.record().connections == 1);
}

TEST_CASE("a server that closes after each reply costs nothing but connections") {
    const std::string reply = GENERATE("HTTP/1.0 200 OK\r\n\r\ndone", "HTTP/1.0 200 OK\r\nContent-Length: 4\r\n\r\ndone",
                                       "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n",
                                       "HTTP/1.1 200 OK\r\n\r\ndone", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    static std::string text;
    text = reply;
    CAPTURE(reply);
    House house;
    const auto server = Server::over_tcp(house.io, [](Peer& peer) -> asio::awaitable<void> {
        co_await peer.request();
        co_await peer.say(text);
    });
    house.consume_with(server.target());
    for (int i = 0; i < 50; ++i) {
        const auto answer = house.reply_to(house.send());
        REQUIRE(answer.kind == Kind::answered);
        REQUIRE(answer.status == 200);
        house.run_until([&] { return server.record().finished == server.record().connections; });
    }
    CHECK(server.record().connections == 50);
}

TEST_CASE("an idle connection that the consumer has closed is not used, even before the loop has seen its end") {
    House house;
    const auto server = Server::over_unix(house.io, house.folder.socket(), answer_one);
    house.consume_with(server.target());
    house.send_on_reply = 5;
    house.send();
    house.run_until([&] { return house.replies.size() == 6; });
    for (const auto& [key, replies] : house.replies) CHECK(replies.at(0).status == 200);
    CHECK(server.record().connections == 6);
}

TEST_CASE("an idle connection is closed after a while") {
    House house;
    const auto server = Server::over_unix(house.io, house.folder.socket(), answer_all);
    house.consume_with(server.target());
    house.reply_to(house.send());
    const auto idle_since = std::chrono::steady_clock::now();
    house.run_until([&] { return server.record().finished == 1; });
    CHECK(std::chrono::steady_clock::now() - idle_since > 400ms);
}

TEST_CASE("a connection that speaks unasked is dropped") {
    House house;
    const auto server = Server::over_unix(house.io, house.folder.socket(), [](Peer& peer) -> asio::awaitable<void> {
        co_await peer.request();
        co_await peer.say("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
        co_await peer.say("HTTP/1.1 500 Late\r\nContent-Length: 0\r\n\r\n");
        co_await peer.until_ended();
    });
    house.consume_with(server.target());
    for (int i = 0; i < 3; ++i) CHECK(house.reply_to(house.send()).status == 200);
    house.run_until([&] { return server.record().finished == 3; });
    CHECK(server.record().requests.size() == 3);
}

TEST_CASE("a request of which nothing could be written on a reused connection is sent once more") {
    House house;
    const auto server = Server::over_unix(house.io, house.folder.socket(), [](Peer& peer) -> asio::awaitable<void> {
        co_await peer.request();
        if (peer.number == 1) peer.socket.shutdown(asio::socket_base::shutdown_receive);  // not seen until the next write
        co_await peer.say(ok);
        if (peer.number == 1) {
            co_await peer.hang();
        }
    });
    house.consume_with(server.target());
    CHECK(house.reply_to(house.send()).status == 200);
    CHECK(house.reply_to(house.send()).status == 200);
    CHECK(server.record().connections == 2);
    CHECK(server.record().requests.size() == 2);
}
