#include "deliver/stream_session.hpp"

#include <catch2/catch.hpp>

#include <random>
#include <set>

using namespace retryd;
using namespace retryd::deliver;
using namespace std::chrono_literals;

namespace {

constexpr model::SteadyTime start{1000s};
constexpr std::string_view hello = R"({"op":"hello","protocol":1,"credit":2})";
constexpr std::string_view leave = R"({"op":"leave"})";
constexpr std::string_view pong = R"({"op":"pong"})";

struct Tried {
    StreamSession session{start};
    model::SteadyTime now = start;

    template <class Meaning>
    Meaning says(std::string_view header) {
        INFO(header);
        auto heard = session.hear(header, now);
        REQUIRE(std::holds_alternative<Meaning>(heard));
        return std::get<Meaning>(heard);
    }
    std::string_view breaks(std::string_view header) { return says<Breach>(header).code; }
    void greet() { says<Welcomed>(hello); }
};

std::string reply(std::uint64_t id, int credit = 0) {
    return R"({"op":"reply","id":)" + std::to_string(id) + R"(,"outcome":"success","credit":)" + std::to_string(credit) + "}";
}

}  // namespace

TEST_CASE("hello comes first and once") {
    Tried it;
    CHECK_FALSE(it.session.is_present());
    CHECK(it.breaks(pong) == "no_hello");
    CHECK(it.breaks(leave) == "no_hello");
    it.greet();
    CHECK(it.session.is_present());
    CHECK(it.session.credit() == 2);
    CHECK(it.breaks(hello) == "second_hello");
}

TEST_CASE("credit adds, each message takes one, and only credit gives it back") {
    Tried it;
    it.greet();
    it.says<CreditGiven>(R"({"op":"credit","n":1})");
    CHECK(it.session.credit() == 3);
    CHECK(it.session.give({10}, start) == 1);
    CHECK(it.session.give({11}, start) == 2);
    CHECK(it.session.credit() == 1);
    CHECK(it.session.busy() == 2);
    CHECK(it.says<Answered>(reply(1)).key == model::DeliveryKey{10});
    CHECK(it.session.credit() == 1);
    CHECK(it.says<Answered>(reply(2, 1)).key == model::DeliveryKey{11});
    CHECK(it.session.credit() == 2);
    CHECK(it.session.busy() == 0);
}

TEST_CASE("credit without end stays a number") {
    Tried it;
    it.greet();
    for (int i = 0; i < 5000; ++i) it.says<CreditGiven>(R"({"op":"credit","n":1000000})");
    CHECK(it.session.credit() == most_credit);
}

TEST_CASE("a reply to what has timed out or was answered comes late, and its credit counts") {
    Tried it;
    it.greet();
    const auto abandoned = it.session.give({10}, start);
    const auto answered = it.session.give({11}, start);
    it.session.abandon(abandoned);
    it.says<Answered>(reply(answered));
    CHECK(it.session.credit() == 0);
    it.says<AnsweredLate>(reply(abandoned, 1));
    it.says<AnsweredLate>(reply(answered, 1));
    CHECK(it.session.credit() == 2);
    it.says<NothingNew>(R"({"op":"extend","id":1,"ms":5})");
}

TEST_CASE("what has timed out keeps a session busy until it answers, late") {
    Tried it;
    it.greet();
    it.session.give({10}, start);
    it.session.abandon(1);
    CHECK(it.session.busy() == 1);
    it.says<AnsweredLate>(reply(1));
    it.says<AnsweredLate>(reply(1));
    CHECK(it.session.busy() == 0);
}

TEST_CASE("an id that was never given breaks the protocol") {
    Tried it;
    it.greet();
    CHECK(it.breaks(reply(1)) == "unknown_id");
    it.session.give({10}, start);
    CHECK(it.breaks(reply(0)) == "unknown_id");
    CHECK(it.breaks(reply(2)) == "unknown_id");
    CHECK(it.breaks(R"({"op":"extend","id":2,"ms":5})") == "unknown_id");
}

TEST_CASE("extend names its message") {
    Tried it;
    it.greet();
    it.session.give({10}, start);
    const auto extended = it.says<Extended>(R"({"op":"extend","id":1,"ms":250})");
    CHECK(extended.key == model::DeliveryKey{10});
    CHECK(extended.more == 250ms);
}

TEST_CASE("whoever has left takes no more, may still answer, and may say so twice") {
    Tried it;
    it.greet();
    it.session.give({10}, start);
    it.says<HasLeft>(leave);
    CHECK_FALSE(it.session.is_present());
    CHECK(it.session.credit() == 0);
    it.says<CreditGiven>(R"({"op":"credit","n":5})");
    CHECK(it.session.credit() == 0);
    it.says<NothingNew>(leave);
    CHECK_FALSE(it.session.is_over());
    it.says<Answered>(reply(1, 1));
    CHECK(it.session.is_over());
}

TEST_CASE("what is unanswered is told in the order in which it was given") {
    Tried it;
    it.greet();
    it.says<CreditGiven>(R"({"op":"credit","n":9})");
    for (const std::uint64_t key : {30U, 10U, 20U, 40U}) it.session.give({key}, start);
    it.says<Answered>(reply(2));
    it.session.abandon(4);
    CHECK(it.session.unanswered() == std::vector<model::DeliveryKey>{{30}, {20}});
}

TEST_CASE("without hello a session ends after 5 s") {
    Tried it;
    CHECK(it.session.next() == start + 5s);
    CHECK(std::holds_alternative<NothingNew>(it.session.timer_due(start + 4s)));
    const auto due = it.session.timer_due(start + 5s);
    REQUIRE(std::holds_alternative<Breach>(due));
    CHECK(std::get<Breach>(due).code == "no_hello");
}

TEST_CASE("an idle session is pinged, and ends where no pong comes") {
    Tried it;
    it.greet();
    CHECK(it.session.next() == start + 5s);
    CHECK(std::holds_alternative<PingDue>(it.session.timer_due(start + 5s)));
    CHECK(it.session.next() == start + 15s);
    SECTION("with a pong it goes on") {
        it.now = start + 6s;
        it.says<NothingNew>(pong);
        CHECK(it.session.next() == start + 11s);
        CHECK(std::holds_alternative<PingDue>(it.session.timer_due(start + 11s)));
    }
    SECTION("without one it is over, whatever else is said") {
        it.now = start + 14s;
        it.says<CreditGiven>(R"({"op":"credit","n":1})");
        const auto due = it.session.timer_due(start + 15s);
        REQUIRE(std::holds_alternative<Breach>(due));
        CHECK(std::get<Breach>(due).code == "no_pong");
    }
}

TEST_CASE("a session that has something to answer is not pinged") {
    Tried it;
    it.greet();
    it.session.give({10}, start + 1s);
    CHECK(it.session.next() == start + 6s);
    CHECK(std::holds_alternative<NothingNew>(it.session.timer_due(start + 6s)));
    CHECK(it.session.next() == start + 11s);
    it.session.abandon(1);
    CHECK(std::holds_alternative<PingDue>(it.session.timer_due(start + 11s)));
}

TEST_CASE("whatever is said at random, each message is answered once at most, and credit is never overdrawn") {
    std::mt19937 random{11};
    for (int round = 0; round < 300; ++round) {
        Tried it;
        it.greet();
        std::set<std::uint64_t> open;
        std::uint64_t last = 0;
        for (int step = 0; step < 200; ++step) {
            const auto choice = random() % 4;
            if (choice == 0 && it.session.credit() > 0) {
                open.insert(++last);
                REQUIRE(it.session.give({last}, it.now) == last);
            } else if (choice == 1 && !open.empty()) {
                it.session.abandon(*open.begin());
                open.erase(open.begin());
            } else if (choice == 2 && last > 0) {
                const auto id = random() % last + 1;
                const auto heard = it.session.hear(reply(id, static_cast<int>(random() % 3)), it.now);
                REQUIRE(std::holds_alternative<Answered>(heard) == (open.erase(id) == 1));
            }
            REQUIRE(it.session.unanswered().size() == open.size());
        }
    }
}
