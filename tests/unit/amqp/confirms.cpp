#include "amqp/confirms.hpp"

#include <catch2/catch.hpp>

#include <vector>

using retryd::amqp::ConfirmWindow;
using retryd::ports::PublishKey;
using Keys = std::vector<PublishKey>;

namespace {

// Keys 101, 102, … to the queue "q", with the ids "a", "b", …
ConfirmWindow with_copies(std::uint64_t count) {
    ConfirmWindow window;
    for (std::uint64_t i = 1; i <= count; ++i) window.sent({100 + i}, "q", std::string(1, static_cast<char>('a' + i - 1)));
    return window;
}

}  // namespace

TEST_CASE("a single confirm decides one copy, in any order") {
    ConfirmWindow window = with_copies(3);
    CHECK(window.confirmed(2, false) == Keys{{102}});
    CHECK(window.confirmed(3, false) == Keys{{103}});
    CHECK(window.confirmed(1, false) == Keys{{101}});
    CHECK(window.open() == 0);
}

TEST_CASE("a multiple confirm decides every copy up to its number, each once") {
    ConfirmWindow window = with_copies(4);
    CHECK(window.confirmed(2, false) == Keys{{102}});
    CHECK(window.confirmed(3, true) == Keys{{101}, {103}});
    CHECK(window.open() == 1);
    CHECK(window.confirmed(4, true) == Keys{{104}});
}

TEST_CASE("a confirm for a number that is not open decides nothing") {
    ConfirmWindow window = with_copies(2);
    CHECK(window.confirmed(3, true).empty());
    CHECK(window.confirmed(0, false).empty());
    CHECK(window.confirmed(1, false) == Keys{{101}});
    CHECK(window.confirmed(1, false).empty());
    CHECK(window.open() == 1);
}

TEST_CASE("a copy that came back is not confirmed") {
    ConfirmWindow window = with_copies(3);
    CHECK(window.returned("b", "q") == PublishKey{102});
    CHECK(window.open() == 3);  // its confirm is still to come
    CHECK(window.confirmed(3, true) == Keys{{101}, {103}});
    CHECK(window.open() == 0);
}

TEST_CASE("equal copies come back in the order in which they went") {
    ConfirmWindow window;
    window.sent({1}, "q", "same");
    window.sent({2}, "other", "same");
    window.sent({3}, "q", "same");
    CHECK(window.returned("same", "q") == PublishKey{1});
    CHECK(window.returned("same", "q") == PublishKey{3});
    CHECK_FALSE(window.returned("same", "q"));
    CHECK(window.returned("same", "other") == PublishKey{2});
}

TEST_CASE("a return that matches no open copy is nobody's") {
    ConfirmWindow window = with_copies(2);
    CHECK_FALSE(window.returned("z", "q"));
    CHECK_FALSE(window.returned("a", "elsewhere"));
    (void)window.confirmed(1, false);
    CHECK_FALSE(window.returned("a", "q"));
}

TEST_CASE("a confirm that is long in coming costs nothing for those that come meanwhile") {
    ConfirmWindow window;
    window.sent({1}, "slow", "a");
    for (std::uint64_t number = 2; number <= 10'000; ++number) {
        window.sent({number}, "quick", "b");
        REQUIRE(window.confirmed(number, false) == Keys{{number}});
    }
    CHECK(window.open() == 1);
    CHECK(window.confirmed(10'000, true) == Keys{{1}});
}

TEST_CASE("a new channel counts from one again") {
    ConfirmWindow window = with_copies(2);
    window.reset();
    CHECK(window.open() == 0);
    CHECK(window.confirmed(1, true).empty());
    window.sent({200}, "q", "z");
    CHECK(window.confirmed(1, false) == Keys{{200}});
}
