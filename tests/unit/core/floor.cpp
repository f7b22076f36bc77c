#include "core/floor.hpp"

#include <catch2/catch.hpp>

using namespace retryd;
using namespace std::chrono_literals;
using core::Company;
using core::Floor;
using model::SteadyTime;

namespace {

constexpr SteadyTime start{1h};
constexpr bool waiting = true;

// Who waits, in the order trusted, suspects, accused.
Floor::Demand demand(bool trusted, bool suspects, bool accused, std::uint32_t in_flight = 0) {
    return {.waits = {trusted, suspects, accused}, .in_flight = in_flight};
}

}  // namespace

TEST_CASE("who waits without others goes on as long as he likes") {
    Floor floor;
    CHECK(floor.next(demand(waiting, false, false), start) == Company::trusted);
    CHECK(floor.next(demand(waiting, false, false, 15), start + 1h) == Company::trusted);
    CHECK_FALSE(floor.next(demand(false, false, false), start));
}

TEST_CASE("another company waits until the consumer has finished with the first") {
    Floor floor;
    CHECK(floor.next(demand(waiting, false, false), start) == Company::trusted);
    CHECK_FALSE(floor.next(demand(false, waiting, false, 1), start));
    CHECK(floor.next(demand(false, waiting, false), start) == Company::suspects);
    CHECK(floor.next(demand(false, waiting, false, 3), start) == Company::suspects);
    CHECK_FALSE(floor.next(demand(false, false, waiting, 3), start));
    CHECK(floor.next(demand(false, false, waiting), start) == Company::accused);
}

TEST_CASE("while several wait, each has the floor for a second") {
    Floor floor;
    auto now = start;
    for (const auto company : {Company::suspects, Company::accused, Company::trusted, Company::suspects}) {
        CHECK(floor.next(demand(waiting, waiting, waiting), now) == company);
        CHECK(floor.next(demand(waiting, waiting, waiting), now + 999ms) == company);
        now += 1s;
        CHECK_FALSE(floor.next(demand(waiting, waiting, waiting, 1), now));
    }
}

TEST_CASE("the accused have the consumer one at a time") {
    Floor floor;
    CHECK(floor.next(demand(false, false, waiting), start) == Company::accused);
    CHECK_FALSE(floor.next(demand(false, false, waiting, 1), start));
    CHECK(floor.next(demand(false, false, waiting), start) == Company::accused);
}

TEST_CASE("while the copy for a trial is on its way nothing is delivered for a second, and no other trial begun for five") {
    Floor floor;
    CHECK(floor.next_change() == SteadyTime::max());
    CHECK(floor.next(demand(waiting, false, waiting), start) == Company::accused);
    floor.await_trial(start);
    CHECK(floor.next_change() == start + 1s);
    CHECK_FALSE(floor.next(demand(waiting, false, waiting), start + 999ms));
    CHECK(floor.next(demand(waiting, false, waiting), start + 1s) == Company::trusted);
    CHECK(floor.awaits_trial());
    CHECK(floor.next_change() == start + 5s);
    CHECK_FALSE(floor.next(demand(false, false, waiting), start + 4999ms));
    CHECK(floor.next(demand(false, false, waiting), start + 5s) == Company::accused);
    CHECK_FALSE(floor.awaits_trial());
    CHECK(floor.next_change() == SteadyTime::max());
}

TEST_CASE("the copy that has come is tried before anybody else") {
    Floor floor;
    CHECK(floor.next(demand(waiting, false, waiting), start) == Company::accused);
    floor.await_trial(start);
    floor.stop_waiting();
    auto due = demand(waiting, waiting, waiting);
    due.trial_is_due = true;
    CHECK(floor.next(due, start + 10ms) == Company::accused);
    due.in_flight = 1;
    CHECK_FALSE(floor.next(due, start + 10ms));
}
