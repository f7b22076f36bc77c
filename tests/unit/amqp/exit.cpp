#include "amqp/exit.hpp"

#include <catch2/catch.hpp>

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

}  // namespace

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
