#include "sockets/peer.hpp"

#include <catch2/catch.hpp>

#include <sys/socket.h>
#include <unistd.h>

#include <array>

using namespace retryd::sockets;

TEST_CASE("the peer's user is known of a Unix socket, and of nothing else") {
    std::array<int, 2> pair{};
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM, 0, pair.data()) == 0);
    CHECK(peer_uid(pair[0]) == ::geteuid());
    ::close(pair[0]);
    ::close(pair[1]);
    CHECK_FALSE(peer_uid(-1));
    std::array<int, 2> pipe{};
    REQUIRE(::pipe(pipe.data()) == 0);
    CHECK_FALSE(peer_uid(pipe[0]));
    ::close(pipe[0]);
    ::close(pipe[1]);
}
