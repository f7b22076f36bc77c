#include "admin/client.hpp"

#include "unit/temp_folder.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <catch2/catch.hpp>

#include <string>

using namespace retryd;
using namespace retryd::admin;
using namespace std::chrono_literals;

TEST_CASE("an answer is read from its bytes") {
    const auto answer = parse_answer("HTTP/1.1 503 Service Unavailable\r\nContent-Length: 5\r\n\r\nno\r\n\n");
    REQUIRE(answer.has_value());
    CHECK(answer->status == 503);
    CHECK(answer->body == "no\r\n\n");
}

TEST_CASE("what is no whole answer is refused") {
    const auto text = GENERATE("", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nok",
                               "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nok", "HTTP/1.1 200 OK\r\n\r\nok",
                               "HTTP/1.1 x\r\nContent-Length: 2\r\n\r\nok", "HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\nok",
                               "220 mail.example ESMTP\r\n\r\n");
    CAPTURE(text);
    REQUIRE(!parse_answer(text));
    CHECK(parse_answer(text).error().what == "no whole answer came");
}

TEST_CASE("nobody there is unavailable, with address and cause") {
    const TempFolder folder;
    const std::string path = folder.path + "/admin.sock";
    const auto answer = get({.unix_path = path}, "/status", 1s);
    REQUIRE(!answer);
    CHECK(answer.error().code == model::ProblemCode::unavailable);
    CHECK(to_text(answer.error()) == "unix:" + path + ": No such file or directory");
}

TEST_CASE("somebody who never answers is given up") {
    const TempFolder folder;
    const std::string path = folder.path + "/admin.sock";
    boost::asio::io_context io;
    const boost::asio::local::stream_protocol::acceptor silent{io, {path}};
    const auto answer = get({.unix_path = path}, "/status", 50ms);
    REQUIRE(!answer);
    CHECK(answer.error().what == "no answer in time");
}

TEST_CASE("a path that no socket can have is refused") {
    CHECK(!get({.unix_path = "/" + std::string(107, 'x')}, "/status", 1s));
}

TEST_CASE("a TCP port where nobody listens is unavailable, with its address") {
    boost::asio::io_context io;
    boost::asio::ip::tcp::acceptor taken{io, {boost::asio::ip::address_v4::loopback(), 0}};
    const std::uint16_t port = taken.local_endpoint().port();
    taken.close();
    const auto answer = get({.host = "127.0.0.1", .port = port}, "/status", 1s);
    REQUIRE(!answer);
    CHECK(to_text(answer.error()) == "http://127.0.0.1:" + std::to_string(port) + ": Connection refused");
}
