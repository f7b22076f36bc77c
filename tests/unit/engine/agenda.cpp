#include "engine/agenda.hpp"

#include <catch2/catch.hpp>

using retryd::engine::Agenda;
using retryd::model::SteadyTime;
using namespace std::chrono_literals;

namespace {

std::vector<std::size_t> due_at(Agenda& agenda, SteadyTime now) {
    std::vector<std::size_t> due;
    agenda.take_due(now, due);
    return due;
}

}  // namespace

TEST_CASE("an empty agenda wants nothing") {
    Agenda agenda(3);
    CHECK(agenda.next() == SteadyTime::max());
    CHECK(due_at(agenda, SteadyTime::max()).empty());
}

TEST_CASE("topics are woken in the order of their times, each once") {
    Agenda agenda(3);
    agenda.wish(0, SteadyTime{30s});
    agenda.wish(1, SteadyTime{10s});
    agenda.wish(2, SteadyTime{20s});
    CHECK(agenda.next() == SteadyTime{10s});
    CHECK(due_at(agenda, SteadyTime{9s}).empty());
    CHECK(due_at(agenda, SteadyTime{20s}) == std::vector<std::size_t>{1, 2});
    CHECK(due_at(agenda, SteadyTime{20s}).empty());
    CHECK(due_at(agenda, SteadyTime{30s}) == std::vector<std::size_t>{0});
}

TEST_CASE("only an earlier wish replaces a wish, and the replaced one rings for nobody") {
    Agenda agenda(1);
    agenda.wish(0, SteadyTime{20s});
    agenda.wish(0, SteadyTime{30s});
    CHECK(agenda.next() == SteadyTime{20s});
    agenda.wish(0, SteadyTime{10s});
    CHECK(due_at(agenda, SteadyTime{10s}) == std::vector<std::size_t>{0});
    CHECK(due_at(agenda, SteadyTime{25s}).empty());
    agenda.wish(0, SteadyTime{40s});
    CHECK(due_at(agenda, SteadyTime{40s}) == std::vector<std::size_t>{0});
}

TEST_CASE("a wish never to be woken is none") {
    Agenda agenda(1);
    agenda.wish(0, SteadyTime::max());
    CHECK(agenda.next() == SteadyTime::max());
}
