#include "amqp/exit.hpp"

#include <catch2/catch.hpp>

#include <netinet/in.h>
#include <sys/socket.h>

#include <array>

using retryd::amqp::Descriptor;
using retryd::amqp::Exit;

namespace {

struct Pair {
    Pair() {
        std::array<int, 2> ends{};
        REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends.data()) == 0);
        ours = Descriptor{ends[0]};
        theirs = Descriptor{ends[1]};
    }
    [[nodiscard]] bool ended() const {
        char byte = 0;
        return ::recv(theirs.get(), &byte, 1, 0) == 0;
    }
    Descriptor ours, theirs;
};

struct TcpPair {
    TcpPair() {
        Descriptor door{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof address;
        auto* const generic = reinterpret_cast<sockaddr*>(&address);
        REQUIRE(::bind(door.get(), generic, size) == 0);
        REQUIRE(::listen(door.get(), 1) == 0);
        REQUIRE(::getsockname(door.get(), generic, &size) == 0);
        ours = Descriptor{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
        REQUIRE(::connect(ours.get(), generic, size) == 0);
        theirs = Descriptor{::accept(door.get(), nullptr, nullptr)};
    }
    Descriptor ours, theirs;
};

}  // namespace

TEST_CASE("what has passed the socket is counted, as far as the kernels know it") {
    Exit exit;
    CHECK(exit.traffic().acknowledged == 0);
    TcpPair pair;
    exit.lend(pair.ours.get());
    const auto before = exit.traffic().acknowledged;
    REQUIRE(::send(pair.ours.get(), "0123456789", 10, 0) == 10);
    std::array<char, 10> read{};
    REQUIRE(::recv(pair.theirs.get(), read.data(), read.size(), MSG_WAITALL) == 10);
    while (exit.traffic().acknowledged < before + 10) {
    }
    CHECK(exit.traffic().acknowledged == before + 10);
    CHECK(exit.traffic().received == 0);
    REQUIRE(::send(pair.theirs.get(), "01234", 5, 0) == 5);
    REQUIRE(::recv(pair.ours.get(), read.data(), 5, MSG_WAITALL) == 5);
    CHECK(exit.traffic().received == 5);
    exit.take_back();
    CHECK(exit.traffic().acknowledged == 0);
}

TEST_CASE("pulling the exit ends the socket that is lent") {
    Exit exit;
    Pair pair;
    exit.lend(pair.ours.get());
    CHECK_FALSE(pair.ended());
    exit.pull();
    CHECK(pair.ended());
}

TEST_CASE("a socket lent after the exit was pulled ends at once, until the exit is closed") {
    Exit exit;
    exit.pull();
    Pair late;
    exit.lend(late.ours.get());
    CHECK(late.ended());
    exit.close();
    Pair next;
    exit.lend(next.ours.get());
    CHECK_FALSE(next.ended());
}

TEST_CASE("a socket that was taken back is let alone, and its end is seen by the peer") {
    Exit exit;
    Pair pair;
    exit.lend(pair.ours.get());
    exit.take_back();
    exit.pull();
    CHECK_FALSE(pair.ended());
    pair.ours = Descriptor{};
    CHECK(pair.ended());  // no duplicate keeps it open
}
