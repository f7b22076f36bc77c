#include "deliver/http_reply_reader.hpp"

#include <catch2/catch.hpp>

using namespace std::string_literals;
using namespace retryd;
using State = deliver::ReplyReader::State;

namespace {

constexpr model::ByteCount limit{1000};

struct Reading {
    deliver::ReplyReader reader{limit};
    State state = State::reading;

    // The bytes in pieces of that size, the last one shorter.
    explicit Reading(std::string_view bytes, std::size_t piece = std::string_view::npos) {
        for (; !bytes.empty() && state == State::reading; bytes.remove_prefix(std::min(piece, bytes.size()))) {
            state = reader.feed(bytes.substr(0, piece));
        }
    }
};

const std::string ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi";

}  // namespace

TEST_CASE("a whole reply is complete, and its connection serves again, however the bytes are cut") {
    const std::string text =
        GENERATE_COPY(std::string(ok), "HTTP/1.1 204 No Content\r\n\r\n"s,
                      "HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n"s, "HTTP/1.1 200 \r\nContent-Length: 0\r\n\r\n"s,
                      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3;x=1\r\nabc\r\n0\r\n\r\n"s,
                      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX-Trailer: 1\r\n\r\n"s,
                      "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 0\r\n\r\n"s);
    CAPTURE(text);
    for (std::size_t piece = 1; piece <= text.size(); ++piece) {
        CAPTURE(piece);
        Reading reading(text, piece);
        REQUIRE(reading.state == State::complete);
        CHECK(reading.reader.reusable());
    }
    for (std::size_t size = 0; size < text.size(); ++size) {
        CAPTURE(size);
        Reading reading(std::string_view(text).substr(0, size));
        REQUIRE(reading.state == State::reading);
        CHECK(reading.reader.end_of_stream() == State::broken);
    }
}

TEST_CASE("a reply's status, fields and body are read") {
    Reading reading(
        "HTTP/1.1 422 No\r\nContent-Type: application/problem+json\r\nRetryd-Dependency: db\r\nContent-Length: "
        "13\r\n\r\n{\"title\":\"t\"}");
    REQUIRE(reading.state == State::complete);
    const auto reply = reading.reader.reply();
    CHECK(reply.status == 422);
    CHECK(reply.error_type == "t");
    CHECK(reply.dependency == "db");
}

TEST_CASE("interim replies are passed over, together or apart") {
    const std::string interim = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n";
    const auto piece = GENERATE(std::size_t{1}, std::size_t{7}, std::string_view::npos);
    CHECK(Reading(interim, piece).state == State::reading);
    Reading success(interim + ok, piece);
    REQUIRE(success.state == State::complete);
    CHECK(success.reader.reply().status == 200);
    CHECK(success.reader.reusable());
    Reading failure(interim + "HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n", piece);
    REQUIRE(failure.state == State::complete);
    CHECK(failure.reader.reply().status == 503);
}

TEST_CASE("interim replies without end are cut off") {
    std::string endless;
    for (int i = 0; i < 100; ++i) endless += "HTTP/1.1 100 Continue\r\n\r\n";
    CHECK(Reading(endless).state == State::broken);
}

TEST_CASE("a connection that will close is not used again") {
    const std::string text = GENERATE("HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n"s,
                                      "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"s);
    Reading reading(text);
    REQUIRE(reading.state == State::complete);
    CHECK_FALSE(reading.reader.reusable());
}

TEST_CASE("a reply without a length ends with the stream") {
    Reading reading("HTTP/1.1 500 Oops\r\nContent-Type: application/problem+json\r\n\r\n{\"title\":\"t\"}", 5);
    CHECK(reading.state == State::reading);
    REQUIRE(reading.reader.end_of_stream() == State::complete);
    CHECK(reading.reader.reply().error_type == "t");
    CHECK_FALSE(reading.reader.reusable());
}

TEST_CASE("bytes after a whole reply make its connection unusable") {
    const std::string text = GENERATE_COPY(ok + "x", ok + ok, "HTTP/1.1 204 No Content\r\nContent-Length: 2\r\n\r\nhi"s);
    Reading reading(text);
    REQUIRE(reading.state == State::complete);
    CHECK_FALSE(reading.reader.reusable());
}

TEST_CASE("of a body over the limit only the head counts") {
    const std::string body(limit.value + 1, 'x');
    const std::string head = "HTTP/1.1 507 Full\r\nContent-Type: application/problem+json\r\nRetryd-Error-Type: Mine\r\n";
    const std::string text =
        GENERATE_COPY(head + "Content-Length: 1001\r\n\r\n", head + "Content-Length: 99999999999999\r\n\r\n{",
                      head + "Transfer-Encoding: chunked\r\n\r\n3e9\r\n",
                      head + "Transfer-Encoding: chunked\r\n\r\n3e8\r\n" + body.substr(1) + "\r\n1\r\n", head + "\r\n" + body);
    const auto piece = GENERATE(std::size_t{10}, std::string_view::npos);
    Reading reading(text, piece);
    REQUIRE(reading.state == State::complete);
    CHECK(reading.reader.reply().status == 507);
    CHECK(reading.reader.reply().error_type == "Mine");
    CHECK_FALSE(reading.reader.reusable());
}

TEST_CASE("a body at the limit is read whole") {
    const std::string body(limit.value, 'x');
    CHECK(Reading("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n" + body).reader.reusable());
}

TEST_CASE("a limit of nothing still lets an empty reply through") {
    deliver::ReplyReader reader{model::ByteCount{0}};
    REQUIRE(reader.feed("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n") == State::complete);
    CHECK(reader.reusable());
}

TEST_CASE("a head with a reason of 10 KB is read, one over 64 KiB is not") {
    CHECK(Reading("HTTP/1.1 422 " + std::string(10'000, 'r') + "\r\nContent-Length: 0\r\n\r\n", 1000).state == State::complete);
    CHECK(Reading("HTTP/1.1 200 OK\r\nX: " + std::string(70'000, 'x') + "\r\n\r\n").state == State::broken);
    CHECK(Reading("HTTP/1.1 200 OK\r\nX: " + std::string(70'000, 'x'), 1000).state == State::broken);
}

TEST_CASE("chunk heads and trailers without end are cut off") {
    const std::string head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    CHECK(Reading(head + "1;" + std::string(70'000, 'x'), 1000).state == State::broken);
    CHECK(Reading(head + "0\r\nX: " + std::string(70'000, 'x'), 1000).state == State::broken);
}

TEST_CASE("what is not HTTP is broken, with a reason") {
    const std::string text = GENERATE(
        "hello\r\n\r\n"s, "HTTP/2 200 OK\r\n\r\n"s, "HTTP/1.1 20x OK\r\n\r\n"s,
        "HTTP/1.1 000 Zero\r\nContent-Length: 0\r\n\r\n"s, "HTTP/1.1 101 Switching Protocols\r\n\r\n"s,
        "HTTP/1.1 200 OK\nContent-Length: 0\n\n"s, "HTTP/1.1 200 OK\r\nno colon\r\n\r\n"s,
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n"s, "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n"s,
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n"s,
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"s, "\x16\x03\x01\x02"s + std::string(20, '\0'));
    CAPTURE(text);
    Reading reading(text);
    CHECK(reading.state == State::broken);
    CHECK_FALSE(reading.reader.trouble().empty());
}

TEST_CASE("a status that is none is no reply, though its body lasts until the end of the stream or is cut off") {
    const auto* const status = GENERATE("000", "099", "101");
    const std::string body(GENERATE(std::size_t{4}, std::size_t{2000}), 'x');
    CAPTURE(status, body.size());
    Reading reading("HTTP/1.0 "s + status + " x\r\n\r\n" + body);
    if (reading.state == State::reading) reading.state = reading.reader.end_of_stream();
    CHECK(reading.state == State::broken);
}
