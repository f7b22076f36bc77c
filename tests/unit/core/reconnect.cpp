#include "core/reconnect.hpp"

#include <catch2/catch.hpp>

using retryd::core::Reconnect;
using namespace std::chrono_literals;
using retryd::model::SteadyTime;

namespace {

constexpr SteadyTime start{1h};
constexpr std::uint64_t latest = ~0ULL;

}  // namespace

TEST_CASE("the first try is at once, each further one at most twice as late, up to five seconds") {
    Reconnect link(1, start);
    auto now = start;
    std::vector<std::int64_t> gaps;
    for (int i = 0; i < 8; ++i) {
        REQUIRE(link.timer_due(now));
        CHECK(link.next() == SteadyTime::max());
        link.down(false, now, latest);
        gaps.push_back(std::chrono::duration_cast<std::chrono::milliseconds>(link.next() - now).count());
        now = link.next();
    }
    CHECK(gaps == std::vector<std::int64_t>{99, 199, 399, 799, 1599, 3199, 4999, 4999});
}

TEST_CASE("full jitter: a thousand daemons do not come back together") {
    Reconnect early(1, start), late(1, start);
    (void)early.timer_due(start);
    (void)late.timer_due(start);
    early.down(false, start, 0);
    late.down(false, start, latest);
    CHECK(early.next() - start < 5ms);
    CHECK(late.next() - start > 95ms);
}

TEST_CASE("a refusal is not repeated at speed") {
    Reconnect link(1, start);
    REQUIRE(link.timer_due(start));
    link.down(true, start, 0);
    CHECK(link.next() - start > 2500ms);
}

TEST_CASE("the backoff starts anew only after ten seconds of health") {
    Reconnect link(1, start);
    for (int i = 0; i < 4; ++i) {
        (void)link.timer_due(link.next());
        link.down(false, start, latest);
    }
    const auto grown = link.next() - start;
    (void)link.timer_due(link.next());
    link.up(start);
    link.down(false, start + 9s, latest);
    CHECK(link.next() - (start + 9s) > grown);
    (void)link.timer_due(link.next());
    link.up(start);
    link.down(false, start + 10s, latest);
    CHECK(link.next() - (start + 10s) < 100ms);
}

TEST_CASE("addresses are tried in turn, and one that worked is tried first again") {
    Reconnect link(3, start);
    std::vector<std::size_t> tried;
    for (int i = 0; i < 4; ++i) {
        (void)link.timer_due(link.next());
        tried.push_back(link.address());
        link.down(false, start, latest);
    }
    CHECK(tried == std::vector<std::size_t>{0, 1, 2, 0});
    (void)link.timer_due(link.next());
    link.up(start);
    link.down(false, start, latest);
    CHECK(link.address() == 1);
}

TEST_CASE("a link that has never been up is down since the start") {
    Reconnect link(1, start);
    CHECK(link.since() == start);
    (void)link.timer_due(start);
    link.down(false, start + 1s, latest);
    CHECK(link.since() == start);
}
