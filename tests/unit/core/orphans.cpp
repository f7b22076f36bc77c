#include "core/orphans.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <random>
#include <vector>

using retryd::core::Orphans;
using retryd::model::ContentHash;
using retryd::model::DeliveryKey;
using retryd::model::SteadyTime;
using Kin = Orphans::Kin;
using namespace std::chrono_literals;

namespace {

constexpr SteadyTime start{1h};

ContentHash content(unsigned number) {
    ContentHash hash{};
    for (std::size_t i = 0; i < sizeof number; ++i) hash[i] = static_cast<unsigned char>(number >> (8 * i));
    return hash;
}

void is_done(Orphans& orphans, std::uint64_t key, unsigned what, SteadyTime now = start) {
    orphans.orphaned({key}, content(what));
    orphans.ended({key}, true, now);
}

}  // namespace

TEST_CASE("nobody is looked for where nobody was orphaned") {
    Orphans orphans;
    CHECK(orphans.is_idle(start));
    CHECK(orphans.came_again(content(1), start).kin == Kin::none);
    orphans.ended({1}, true, start);  // it was no orphan
    CHECK(orphans.is_idle(start));
}

TEST_CASE("a success that came late pays for one ack, once") {
    Orphans orphans;
    is_done(orphans, 1, 7);
    CHECK_FALSE(orphans.is_idle(start));
    CHECK(orphans.came_again(content(8), start).kin == Kin::none);
    CHECK(orphans.came_again(content(7), start).kin == Kin::done);
    CHECK(orphans.came_again(content(7), start).kin == Kin::none);
    CHECK(orphans.is_idle(start));
}

TEST_CASE("what comes again while it is under way is taken over, and is no orphan any more") {
    Orphans orphans;
    orphans.orphaned({5}, content(7));
    const auto found = orphans.came_again(content(7), start);
    CHECK(found.kin == Kin::under_way);
    CHECK(found.orphan == DeliveryKey{5});
    orphans.ended({5}, true, start);
    CHECK(orphans.is_idle(start));
    orphans.orphaned({5}, content(7));  // the link breaks once more
    CHECK(orphans.came_again(content(7), start).orphan == DeliveryKey{5});
}

TEST_CASE("what failed is delivered again") {
    Orphans orphans;
    orphans.orphaned({1}, content(7));
    orphans.ended({1}, false, start);
    orphans.ended({1}, true, start);  // too late to matter
    CHECK(orphans.is_idle(start));
}

TEST_CASE("of twins as many are acked as were done, and the rest is found where it is") {
    Orphans orphans;
    for (std::uint64_t key = 1; key <= 3; ++key) orphans.orphaned({key}, content(7));
    orphans.ended({2}, true, start);
    CHECK(orphans.came_again(content(7), start).kin == Kin::done);
    const auto first = orphans.came_again(content(7), start);
    const auto second = orphans.came_again(content(7), start);
    CHECK((first.kin == Kin::under_way && second.kin == Kin::under_way));
    CHECK((first.orphan == DeliveryKey{1} && second.orphan == DeliveryKey{3}));
    CHECK(orphans.came_again(content(7), start).kin == Kin::none);
}

TEST_CASE("after five minutes a success is forgotten, and what is under way is not") {
    Orphans orphans;
    is_done(orphans, 1, 7);
    is_done(orphans, 2, 8, start + 1min);
    orphans.orphaned({3}, content(9));
    CHECK(orphans.came_again(content(7), start + 5min).kin == Kin::none);
    CHECK(orphans.came_again(content(8), start + 6min - 1us).kin == Kin::done);
    CHECK_FALSE(orphans.is_idle(start + 10h));
    CHECK(orphans.came_again(content(9), start + 10h).kin == Kin::under_way);
    CHECK(orphans.is_idle(start + 10h));
}

TEST_CASE("the oldest successes are forgotten where there are too many") {
    Orphans orphans;
    constexpr auto most = static_cast<unsigned>(Orphans::most_remembered);
    for (unsigned i = 0; i < most + 2; ++i) is_done(orphans, i + 1, i);
    CHECK(orphans.came_again(content(0), start).kin == Kin::none);
    CHECK(orphans.came_again(content(1), start).kin == Kin::none);
    CHECK(orphans.came_again(content(2), start).kin == Kin::done);
    CHECK(orphans.came_again(content(most + 1), start).kin == Kin::done);
}

// Whatever happens in whatever order: of each content no more is found than was orphaned, and no more is acked than was done.
TEST_CASE("no ack without its success") {
    std::mt19937 random(4711);
    const auto below = [&](unsigned n) { return static_cast<unsigned>(random() % n); };
    for (int round = 0; round < 300; ++round) {
        Orphans orphans;
        std::vector<std::vector<DeliveryKey>> under_way(3);
        std::vector<int> unspent(3);
        std::uint64_t keys = 0;
        for (int step = 0; step < 200; ++step) {
            const auto what = below(3);
            auto& mine = under_way[what];
            const auto deed = below(3);
            if (deed == 0) {
                orphans.orphaned({++keys}, content(what));
                mine.push_back({keys});
            } else if (deed == 1 && !mine.empty()) {
                const bool done = below(2) == 0;
                const auto at = mine.begin() + below(static_cast<unsigned>(mine.size()));
                orphans.ended(*at, done, start);
                mine.erase(at);
                unspent[what] += done ? 1 : 0;
            } else if (deed == 2) {
                const auto found = orphans.came_again(content(what), start);
                REQUIRE((found.kin == Kin::done) == (unspent[what] > 0));
                if (found.kin == Kin::done) --unspent[what];
                if (found.kin != Kin::under_way) continue;
                const auto at = std::find(mine.begin(), mine.end(), found.orphan);
                REQUIRE(at != mine.end());
                mine.erase(at);
            }
        }
    }
}
