#include "deliver/stream_server.hpp"
#include "unit/deliver/stream_house.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>

using namespace streamed;
using Kind = model::Reply::Kind;

namespace {

std::string id_of(const std::string& message) {
    const auto at = message.find(R"("id":)") + 5;
    return message.substr(at, message.find(',', at) - at);
}

}  // namespace

TEST_CASE("a message goes to whoever is there, and the answer comes back") {
    House house;
    house.open();
    Caller caller(house, 1);
    const auto key = house.send("body");
    const auto message = caller.next();
    CHECK(id_of(message) == "1");
    CHECK(caller.body == "body");
    caller.reply(1, R"("outcome":"permanent","error":{"type":"Bad","message":"never"})");
    house.run_until([&] { return house.replies.contains(key); });
    CHECK(house.replies[key][0].stated == model::Outcome::permanent);
    CHECK(house.replies[key][0].error_type == "Bad");
}

TEST_CASE("the first session makes the consumer present, and the last one's end makes it gone") {
    House house;
    house.open();
    house.consumer->probe({0});
    house.run_until([&] { return house.reports.size() == 1; });
    CHECK(house.reports[0] == "probed no session on unix:" + house.path());
    {
        Caller first(house, 1);
        CHECK(house.reports.back() == "probed ");
        Caller second(house, 1);
        CHECK(house.reports.back() == "credit");
        CHECK(house.consumer->credit({0}) == 2U);
        house.consumer->probe({0});
        house.settle();
        CHECK(house.reports.back() == "probed ");
        first.hang_up();
        house.run_until([&] { return house.consumer->credit({0}) == 1U; });
        CHECK(house.reports.size() == 4);
    }
    house.run_until([&] { return house.reports.size() == 5; });
    CHECK(house.reports.back() == "gone the session ended, it was the last on unix:" + house.path());
}

TEST_CASE("whoever leaves last makes it gone too, once") {
    House house;
    house.open();
    Caller caller(house, 1);
    const auto key = house.send();
    caller.next();
    caller.say(R"({"op":"leave"})");
    house.run_until([&] { return house.reports.back().starts_with("gone "); });
    caller.reply(1);
    house.run_until([&] { return house.replies.contains(key); });
    const auto reports = house.reports.size();
    caller.hang_up();
    house.settle();
    CHECK(house.reports.size() == reports);
}

TEST_CASE("a session that has left is ended as soon as nobody waits for an answer of it") {
    House house;
    house.open();
    Caller idle(house, 1);
    idle.say(R"({"op":"leave"})");
    CHECK(idle.next().empty());

    Caller busy(house, 2);
    house.send();
    const auto late = house.send();
    busy.next();
    busy.next();
    busy.say(R"({"op":"leave"})");
    busy.reply(1);
    house.run_until([&] { return house.replies.size() == 1; });
    house.settle();
    CHECK_FALSE(busy.has_news());
    house.consumer->abandon(late);
    CHECK(busy.next().empty());
    CHECK(house.replies.size() == 1);
}

TEST_CASE("without credit a delivery is unavailable, and told later, not at once") {
    House house;
    house.open();
    Caller caller(house, 0);
    const auto key = house.send();
    CHECK(house.replies.empty());
    house.run_until([&] { return house.replies.contains(key); });
    CHECK(house.replies[key][0].kind == Kind::unavailable);
    const auto abandoned = house.send();
    house.consumer->abandon(abandoned);
    house.settle();
    CHECK_FALSE(house.replies.contains(abandoned));
    CHECK_FALSE(caller.has_news());
}

TEST_CASE("sessions take turns, but for one that has clearly more to do") {
    House house;
    house.open();
    Caller a(house, 12), b(house, 12), c(house, 1);
    std::map<Caller*, int> got;
    for (int i = 0; i < 25; ++i) house.send();
    for (auto* caller : {&a, &b, &c}) {
        while (caller->has_news()) {
            caller->next();
            ++got[caller];
        }
    }
    CHECK(got[&a] == 12);
    CHECK(got[&b] == 12);
    CHECK(got[&c] == 1);
    for (std::uint64_t id = 1; id < 12; ++id) b.reply(id);
    b.reply(12, R"("outcome":"success","credit":2)");
    house.run_until([&] { return house.consumer->credit({0}) == 13U; });
    a.say(R"({"op":"credit","n":2})");
    house.run_until([&] { return house.consumer->credit({0}) == 15U; });
    house.send();
    CHECK(b.has_news());  // it has less to do
    CHECK_FALSE(a.has_news());
}

TEST_CASE("who owes an answer that has timed out is the last to be asked") {
    House house;
    house.open();
    Caller frozen(house, 5);
    const auto first = house.send();
    frozen.next();
    house.consumer->abandon(first);
    Caller good(house, 5);
    for (int i = 0; i < 5; ++i) {
        house.send();
        good.next();
        good.reply(static_cast<std::uint64_t>(i) + 1);
        house.run_until([&] { return house.replies.size() == static_cast<std::size_t>(i) + 1; });
    }
    CHECK(house.consumer->credit({0}) == 9U);
}

TEST_CASE("what a session had not answered at its end is lost, and nothing of another's") {
    House house;
    house.open();
    Caller a(house, 2), b(house, 2);
    std::vector<model::DeliveryKey> keys;
    for (int i = 0; i < 4; ++i) keys.push_back(house.send());
    a.next();
    b.next();
    a.hang_up();
    house.run_until([&] { return house.replies.size() == 2; });
    for (const auto& [key, replies] : house.replies) CHECK(replies[0].kind == Kind::lost);
    b.next();
    b.reply(1);
    b.reply(2);
    house.run_until([&] { return house.replies.size() == 4; });
    for (const auto key : keys) CHECK(house.replies[key].size() == 1);
}

TEST_CASE("an abandoned message's reply is ignored, its credit is not") {
    House house;
    house.open();
    Caller caller(house, 1);
    const auto key = house.send();
    caller.next();
    house.consumer->abandon(key);
    caller.reply(1);
    house.run_until([&] { return house.consumer->credit({0}) == 1U; });
    CHECK(house.replies.empty());
    CHECK(house.count("credit") == 1);
    CHECK(house.consumer->describe({0}) == "stream unix:" + house.path() + ", 1 session, credit 1, 1 late reply");
    house.send();
    CHECK(id_of(caller.next()) == "2");
}

TEST_CASE("a request for more time is passed on") {
    House house;
    house.open();
    Caller caller(house, 1);
    house.send();
    caller.next();
    caller.say(R"({"op":"extend","id":1,"ms":1500})");
    house.run_until([&] { return house.reports.back() == "extended 1 1500"; });
}

TEST_CASE("whoever breaks the protocol is told why and ends, alone, and what it had is lost") {
    const auto [bytes, code] = GENERATE(
        table<std::string, std::string>({{std::string("\xff\xff\xff\xff\0\0\0\0", 8), "frame_too_large"},
                                         {std::string("\0\0\0\0\0\0\0\0", 8), "bad_json"},
                                         {std::string("\0\0\0\2\0\0\0\0", 8) + "{}", "unknown_op"},
                                         {std::string("\0\0\0\2\0\0\0\1", 8) + "{}x", "unexpected_body"},
                                         {std::string("\0\0\0\x13\0\0\0\0", 8) + R"({"op":"reply","id":9})", "bad_json"},
                                         {std::string("\0\0\0\x15\0\0\0\0", 8) + R"({"op":"reply","id":9})", "unknown_id"}}));
    CAPTURE(code);
    House house;
    house.open();
    Caller good(house, 1), bad(house, 1);
    const auto one = house.send(), two = house.send();
    good.next();
    bad.next();
    bad.send_raw(bytes);
    CHECK(bad.next().starts_with(R"({"op":"error","code":")" + code + "\""));
    CHECK(bad.next().empty());
    house.run_until([&] { return house.replies.size() == 1; });
    const auto lost = house.replies.contains(one) ? one : two;
    CHECK(house.replies[lost][0].kind == Kind::lost);
    good.reply(1);
    house.run_until([&] { return house.replies.size() == 2; });
}

TEST_CASE("bodies go out whole and in order, small and large, to a slow reader too") {
    House house;
    house.open();
    Caller caller(house, 100);
    std::vector<std::string> sent;
    for (std::size_t i = 0; i < 60; ++i) sent.emplace_back(i % 20 == 7 ? 3'000'000 : i * 11, static_cast<char>('a' + i % 26));
    for (const auto& body : sent) house.send(body);
    for (std::size_t i = 0; i < sent.size(); ++i) {
        REQUIRE(id_of(caller.next()) == std::to_string(i + 1));
        REQUIRE(caller.body == sent[i]);
    }
}

TEST_CASE("who does not read keeps nothing alive: what was not sent is taken back, and the session ends") {
    House house;
    house.open();
    Caller caller(house, 1'000'000);
    std::vector<std::weak_ptr<const model::Message>> bodies;
    std::vector<model::DeliveryKey> keys;
    for (int i = 0; i < 8; ++i) {
        keys.push_back(house.send(std::string(4'000'000, 'x')));
        bodies.push_back(house.last_message);
        house.settle();
    }
    CHECK(house.consumer->credit({0}) == 999'992U);
    const auto stuck = std::chrono::steady_clock::now() + deliver::stuck_after;
    house.run_until([&] { return std::chrono::steady_clock::now() >= stuck; });
    CHECK(house.consumer->abandon(keys[0]));  // the kernel has some of it
    for (std::size_t i = 1; i < keys.size(); ++i) CHECK_FALSE(house.consumer->abandon(keys[i]));
    house.run_until([&] { return house.count("gone the session did not read, it was the last on unix:" + house.path()) == 1; });
    house.settle();
    for (const auto& body : bodies) CHECK(body.expired());
    CHECK(house.replies.empty());
}

TEST_CASE("what is taken back at once was never sent, and its credit is there again") {
    House house;
    house.open();
    Caller caller(house, 1);
    CHECK_FALSE(house.consumer->abandon(house.send("first")));
    const auto second = house.send("second");
    REQUIRE(id_of(caller.next()) == "2");
    CHECK(caller.body == "second");
    caller.reply(2);
    house.run_until([&] { return house.replies.contains(second); });
}

TEST_CASE("frames that are announced and drip in are bounded in all, and who has announced most pays for it") {
    House house;
    house.open();
    const std::string announced{"\x00\x10\x00\x00\x00\x00\x00\x00", 8};  // 1 MiB
    std::vector<std::unique_ptr<Caller>> callers;
    const auto innocent = std::make_unique<Caller>(house, 1);
    for (int i = 0; i < 24; ++i) {
        callers.push_back(std::make_unique<Caller>(house, 0));
        callers.back()->send_raw(announced);
        for (int part = 0; part < 10; ++part) {
            callers.back()->send_raw(std::string(100'000, ' '));
            house.settle();
        }
    }
    const auto told = std::count_if(callers.begin(), callers.end(), [](const auto& caller) {
        return caller->has_news() && caller->next().starts_with(R"({"op":"error","code":"too_much_announced")");
    });
    CHECK(told >= 7);
    CHECK(told <= 9);
    CHECK_FALSE(innocent->has_news());
}

TEST_CASE("a flood of callers that are turned away keeps no more than some of them") {
    House house;
    house.policy.queues.resize(1);
    house.policy.queues[0].deliver.stream.emplace();
    house.policy.queues[0].deliver.stream->access.uids = {::getuid() + 1};
    house.open();
    std::vector<std::unique_ptr<Caller>> callers;
    std::size_t silent = 0;
    for (std::size_t i = 0; i < deliver::most_sessions + deliver::most_turned_away + 50; ++i) {
        callers.push_back(std::make_unique<Caller>(house));
        if (i % 50 == 49) house.settle();
    }
    house.settle();
    for (const auto& caller : callers) silent += caller->next().empty() ? 1 : 0;
    CHECK(silent >= 1);
    callers.clear();
    house.settle();
    Caller later(house);
    CHECK(later.next().starts_with(R"({"op":"error","code":"not_allowed")"));
}

TEST_CASE("a drain is told to everybody, and no one can come any more") {
    House house;
    house.open();
    Caller caller(house, 1);
    const auto key = house.send();
    caller.next();
    house.consumer->drain();
    CHECK(caller.next() == R"({"op":"drain"})");
    CHECK_FALSE(std::filesystem::exists(house.path()));
    caller.reply(1);
    house.run_until([&] { return house.replies.contains(key); });
}

TEST_CASE("a user whom the policy does not name is told so") {
    House house;
    house.policy.queues.resize(1);
    house.policy.queues[0].deliver.stream.emplace().access.uids = {::getuid() + 1};
    house.open();
    for (int i = 0; i < 3; ++i) {
        Caller caller(house);
        CHECK(caller.next().starts_with(R"({"op":"error","code":"not_allowed")"));
        CHECK(caller.next().empty());
    }
    CHECK(house.reports.empty());
    REQUIRE(house.log.size() == 1);  // the rest is counted
    CHECK(house.log[0] == "session_refused queue=orders why=the policy's stream_access does not name this process's user uid=" +
                              std::to_string(::getuid()));
}

TEST_CASE("a consumer that is destroyed closes everything, leaves no file and reports nothing") {
    House house;
    house.open();
    Caller caller(house, 2);
    house.send();
    house.send();
    house.send();  // without credit
    house.consumer->probe({0});
    const auto reports = house.reports.size();
    house.consumer.reset();
    house.settle();
    CHECK(house.replies.empty());
    CHECK(house.reports.size() == reports);
    CHECK_FALSE(std::filesystem::exists(house.path()));
    caller.hang_up();
    house.settle();
}
