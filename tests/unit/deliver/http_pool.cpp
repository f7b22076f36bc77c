// The standing gate's probe. What becomes of messages is tested through deliver/http_consumer.

#include "deliver/http_pool.hpp"

#include "unit/deliver/house.hpp"

#include <catch2/catch.hpp>

using namespace retryd;
using namespace scripted;

namespace {

// A consumer behind a gate whose page is answered by `script`.
struct Gate {
    House house;
    Server server;

    explicit Gate(Script script) : server(Server::over_unix(house.io, house.folder.socket(), script)) {
        house.consume_with(server.target());
        house.policy.queues[0].deliver.ready = model::ReadyPolicy{"/healthz?full", 2s, 1, 1};
        house.policy.queues[0].deliver.headers = {{"X-App-Token", "hush"}};
    }
};

}  // namespace

TEST_CASE("the gate's page is asked for with the fixed headers, and 2xx alone means ready") {
    struct Row {
        std::string reply, said;
    };
    const auto row = GENERATE(
        Row{"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", ""}, Row{"HTTP/1.1 204 No Content\r\n\r\n", ""},
        Row{"HTTP/1.0 200 OK\r\n\r\nok", ""},
        Row{"HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", ""},
        Row{"HTTP/1.1 302 Found\r\nLocation: /ok\r\nContent-Length: 0\r\n\r\n", "not ready: GET /healthz?...: status 302"},
        Row{"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", "not ready: GET /healthz?...: status 404"},
        Row{"HTTP/1.1 503 Busy\r\nRetry-After: 9\r\nContent-Length: 0\r\n\r\n", "not ready: GET /healthz?...: status 503"},
        Row{"SSH-2.0-OpenSSH_9.2\r\n", "not ready: GET /healthz?...: bad reply"}, Row{"", "not ready: GET /healthz?...: "});
    CAPTURE(row.reply);
    static std::string text;
    text = row.reply;
    Gate gate([](Peer& peer) -> asio::awaitable<void> {
        co_await peer.request();
        if (text.empty()) co_return;
        co_await peer.say(text);
    });
    const auto said = gate.house.probe_result();
    CHECK(said.substr(0, row.said.size()) == row.said);
    CHECK(said.empty() == row.said.empty());
    REQUIRE(gate.server.record().requests.size() == 1);
    CHECK(gate.server.record().requests[0] ==
          "GET /healthz?full HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nX-App-Token: hush\r\n\r\n");
}

TEST_CASE("each question of the gate has a connection of its own, which is closed after the answer") {
    Gate gate([](Peer& peer) -> asio::awaitable<void> {
        for (;;) {
            const bool asked = co_await peer.request();
            if (!asked) co_return;
            co_await peer.say("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
        }
    });
    for (int i = 0; i < 3; ++i) CHECK(gate.house.probe_result().empty());
    CHECK(gate.house.reply_to(gate.house.send()).status == 200);
    CHECK(gate.server.record().connections == 4);
    gate.house.run_until([&] { return gate.server.record().finished >= 3; });
}

TEST_CASE("a page that is not answered is given up after a while") {
    Gate gate([](Peer& peer) -> asio::awaitable<void> {
        co_await peer.request();
        co_await peer.request();
    });
    CHECK(gate.house.probe_result() == "not ready: GET /healthz?...: no answer in 5 s");
    gate.house.run_until([&] { return gate.server.record().finished == 1; });
}

TEST_CASE("where nobody listens the consumer is away, gate or not") {
    House house;
    model::HttpTarget nowhere;
    nowhere.host = "localhost";
    nowhere.unix_path = house.folder.socket();
    house.consume_with(nowhere);
    house.policy.queues[0].deliver.ready = model::ReadyPolicy{"/healthz", 2s, 1, 1};
    CHECK(house.probe_result().starts_with("connect unix:"));
}
