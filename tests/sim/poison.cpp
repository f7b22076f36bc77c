// Messages that take the consumer or the daemon down: they end alone, and nobody pays for them.

#include "model/header_table.hpp"
#include "model/ledger_names.hpp"
#include "sim/policies.hpp"
#include "sim/world.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <set>

using namespace retryd;
using namespace retryd::sim;

namespace {

using Complaints = std::vector<std::string>;
constexpr model::QueueId first_queue{0};

Answer never() {
    auto answer = sim::answer(200);
    answer.after.reset();
    return answer;
}

// Takes the consumer down, which is back after a while.
Fate kills_the_consumer(World& world, model::Microseconds down_for = 2s, std::uint32_t times = 1000) {
    return [&world, down_for, times](std::uint32_t, std::uint32_t call) {
        if (call > times) return answer(200);
        world.time().after(1ms, [&world] { world.consumer().go_away(first_queue); });
        world.time().after(down_for, [&world] { world.consumer().come_back(first_queue); });
        return never();
    };
}

// Takes the consumer down, which goes on taking messages for a moment, and loses those too.
Fate kills_the_consumer_slowly(World& world, model::Microseconds dying_for) {
    return [&world, dying_for](std::uint32_t, std::uint32_t) {
        world.time().after(dying_for, [&world] { world.consumer().go_away(first_queue); });
        world.time().after(dying_for + 1s, [&world] { world.consumer().come_back(first_queue); });
        return breaks_off();
    };
}

// Takes down the daemon that handed it over; one that was dead by then is not taken down again.
Fate kills_the_daemon(World& world, std::uint64_t& deaths) {
    return [&world, &deaths](std::uint32_t, std::uint32_t) {
        world.time().after(10ms, [&world, &deaths, life = deaths] {
            if (life != deaths) return;
            ++deaths;
            world.crash();
        });
        return never();
    };
}

void crash_three_times(World& world) {
    for (int i = 0; i < 3; ++i) {
        world.run_for(2s);
        world.crash();
    }
}

// Works for a while; remembers the greatest attempt that it was told.
struct Innocents {
    std::uint32_t greatest_attempt = 0;
    Fate fate() {
        return [this](std::uint32_t attempt, std::uint32_t) {
            greatest_attempt = std::max(greatest_attempt, attempt);
            auto slow = answer(200);
            slow.after = 50ms;
            return slow;
        };
    }
};

std::set<std::uint64_t> numbers_in(World& world, const model::QueueName& lot) {
    std::set<std::uint64_t> numbers;
    world.broker().each_message([&](const model::QueueName& queue, const Stored& stored) {
        if (queue == lot) numbers.insert(number_of(*stored.message));
    });
    return numbers;
}

// As it comes by the lane when two losses have made it wait for its trial.
Extra accused(const std::string& id) {
    model::TableWriter ledger;
    ledger.add_long(model::names::version, 1);
    ledger.add_string(model::names::id, id);
    ledger.add_string(model::names::queue, "orders");
    ledger.add_long(model::names::suspect, 0);
    Extra extra;
    extra.headers = ledger.bytes();
    return extra;
}

bool was_logged(const World& world, const std::string& words) {
    return std::any_of(world.log().begin(), world.log().end(),
                       [&](const std::string& line) { return line.find(words) != std::string::npos; });
}

}  // namespace

TEST_CASE("of sixteen at the consumer that one kills, fifteen finish uncharged and the one is parked as poison") {
    World world{orders()};
    Innocents innocents;
    for (int i = 0; i < 7; ++i) world.publish("orders", innocents.fate());
    world.publish("orders", kills_the_consumer(world));
    for (int i = 0; i < 8; ++i) world.publish("orders", innocents.fate());
    world.start();
    REQUIRE(world.run_until_settled(5min));
    CHECK(world.audit().succeeded() == 15);
    CHECK(innocents.greatest_attempt == 1);
    CHECK(world.lot(parked) == 1);
    CHECK(was_logged(world, "poison"));
    CHECK(was_logged(world, "delivered alone 2 times, and each time the consumer or retryd died without a reply"));
    CHECK(world.complaints() == Complaints{});
}

TEST_CASE("what kills the daemon is parked as poison, and whoever was in its hand finishes uncharged") {
    World world{orders()};
    Innocents innocents;
    std::uint64_t deaths = 0;
    for (int i = 0; i < 20; ++i) world.publish("orders", innocents.fate());
    world.publish("orders", kills_the_daemon(world, deaths));
    for (int i = 0; i < 20; ++i) world.publish("orders", innocents.fate());
    world.start();
    REQUIRE(world.run_until_settled(10min));
    CHECK(world.audit().succeeded() == 40);
    CHECK(innocents.greatest_attempt == 1);
    CHECK(world.lot(parked) == 1);
    CHECK(world.complaints() == Complaints{});
}

TEST_CASE("two that kill are both found") {
    World world{orders()};
    Innocents innocents;
    std::uint64_t deaths = 0;
    for (int i = 0; i < 30; ++i)
        world.publish("orders", i == 3   ? kills_the_consumer(world)
                                : i == 9 ? kills_the_daemon(world, deaths)
                                         : innocents.fate());
    world.start();
    REQUIRE(world.run_until_settled(20min));
    CHECK(world.audit().succeeded() == 28);
    CHECK(innocents.greatest_attempt == 1);
    CHECK(world.lot(parked) == 2);
}

TEST_CASE("what kills the consumer twice and then works succeeds") {
    World world{orders()};
    Innocents innocents;
    for (int i = 0; i < 15; ++i) world.publish("orders", innocents.fate());
    world.publish("orders", kills_the_consumer(world, 2s, 2));
    world.start();
    REQUIRE(world.run_until_settled(5min));
    CHECK(world.audit().succeeded() == 16);
    CHECK(world.lot(parked) == 0);
    CHECK(innocents.greatest_attempt == 1);
}

TEST_CASE("a daemon that is drained again and again makes nobody poison") {
    World world{orders([](auto& queue) { queue.deliver.concurrency = 2; })};
    Innocents innocents;
    for (int i = 0; i < 60; ++i) world.publish("orders", innocents.fate());
    world.start();
    for (int i = 0; i < 12; ++i) {
        world.run_for(30ms + i * 7ms);
        world.drain();
        REQUIRE(world.run_until([&] { return world.engine().stopped(); }, 30s));
        world.start();
    }
    REQUIRE(world.run_until_settled(5min));
    CHECK(world.audit().succeeded() == 60);
    CHECK(world.lot(parked) == 0);
    CHECK(innocents.greatest_attempt == 1);
    CHECK(world.complaints() == Complaints{});
}

TEST_CASE("a link that breaks in every trial is not held against the message") {
    World world{orders()};
    Innocents innocents;
    for (int i = 0; i < 6; ++i) world.publish("orders", innocents.fate());
    world.start();
    for (int i = 0; i < 12; ++i) {
        world.run_for(20ms);
        world.broker().run(false);
        world.run_for(1s);
        world.broker().run(true);
        world.run_for(1s);
    }
    REQUIRE(world.run_until_settled(5min));
    CHECK(world.lot(parked) == 0);
    CHECK(world.audit().succeeded() >= 6);
}

TEST_CASE("nor is one that breaks when the trial was answered, and the answer could not be carried out yet") {
    World world{orders([](auto& queue) { queue.retry.quick = {10s}; })};
    bool failing = true;
    world.publish("orders", [&](std::uint32_t, std::uint32_t) { return failing ? answer(503) : answer(200); });
    world.start();
    for (int i = 0; i < 12; ++i) {
        world.run_for(2s);  // answered, and waiting in hand for its quick retry
        world.broker().run(false);
        world.run_for(1s);
        world.broker().run(true);
    }
    failing = false;
    REQUIRE(world.run_until_settled(5min));
    CHECK(world.lot(parked) == 0);
    CHECK(world.audit().succeeded() >= 1);
}

TEST_CASE("nor is one that breaks when the trial has succeeded, with the ack under way") {
    World world{orders()};
    bool breaking = true;
    world.publish("orders", [&](std::uint32_t, std::uint32_t call) {
        if (call <= 3) return never();
        if (breaking) world.time().after(5ms + 1us, [&] { world.broker().cut(ports::Link::consume); });
        return answer(200);
    });
    world.start();
    crash_three_times(world);
    world.run_for(30s);
    CHECK(was_logged(world, "tried_alone"));
    breaking = false;
    REQUIRE(world.run_until_settled(5min));
    CHECK(world.lot(parked) == 0);
}

TEST_CASE("what a second consumer of the lane takes and gives back between stamp and trial is nobody's death") {
    World world{orders()};
    world.publish("orders", [](std::uint32_t, std::uint32_t call) { return call <= 3 ? never() : answer(200); });
    world.start();
    world.broker().lend_from(lane, true);
    crash_three_times(world);
    REQUIRE(world.run_until_settled(5min));
    CHECK(was_logged(world, "tried_alone"));
    CHECK(world.lot(parked) == 0);
    CHECK(world.audit().succeeded() == 1);
}

TEST_CASE("accused that fill the lane's prefetch are tried without a pause, though as many again wait behind them") {
    World world{orders([](auto& queue) { queue.prefetch = 32; })};
    Innocents innocents;
    world.start();
    world.run_for(50ms);
    for (int i = 0; i < 200; ++i) world.publish(lane.value, innocents.fate(), accused(std::to_string(i)));
    REQUIRE(world.run_until_settled(20s));  // 50 ms each
    CHECK(world.audit().succeeded() == 200);
    CHECK(innocents.greatest_attempt == 1);
    CHECK(world.complaints() == Complaints{});
}

TEST_CASE("nor is a crash while the copy for its trial, given back before, waits for its turn") {
    World world{orders([](auto& queue) { queue.deliver.concurrency = 1; })};
    world.start();
    world.run_for(50ms);
    world.broker().lend_from(lane, true);
    world.publish(lane.value, succeeds(), accused("1"));
    const auto slow = [](std::uint32_t, std::uint32_t) {
        auto later = answer(200);
        later.after = 4s;
        return later;
    };
    for (int i = 0; i < 10; ++i) world.publish("orders", slow);
    for (int i = 0; i < 6; ++i) {
        world.run_for(3s);
        world.crash();
    }
    world.broker().lend_from(lane, false);
    REQUIRE(world.run_until_settled(5min));
    CHECK(world.lot(parked) == 0);
    CHECK(world.audit().succeeded() == 11);
}

TEST_CASE("a count of deliveries that a message brings along is no evidence") {
    World world{orders()};
    model::TableWriter headers;
    headers.add_long("x-delivery-count", 9);
    Extra extra;
    extra.headers = headers.bytes();
    Innocents innocents;
    for (int i = 0; i < 100; ++i) world.publish("orders", innocents.fate(), extra);
    world.start();
    REQUIRE(world.run_until_settled(2s));  // 50 ms each, sixteen at once
    CHECK_FALSE(was_logged(world, "tried_alone"));
    CHECK(world.audit().succeeded() == 100);
}

TEST_CASE("the trusted go on while suspects wait") {
    World world{orders()};
    Innocents innocents;
    for (int i = 0; i < 16; ++i) world.publish("orders", i == 5 ? kills_the_consumer(world) : innocents.fate());
    world.start();
    world.run_for(6s);  // both deaths are over
    for (int i = 0; i < 400; ++i) world.publish("orders", innocents.fate());
    REQUIRE(world.run_until_settled(5min));
    CHECK(world.audit().succeeded() == 415);
    CHECK(world.lot(parked) == 1);
    CHECK(innocents.greatest_attempt == 1);
}

// Seeds vary what the scenarios above hold still.
TEST_CASE("whatever the timing, poison is found and nobody else is charged") {
    for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
        CAPTURE(seed);
        Chance chance(seed);
        World world{orders([&](auto& queue) {
                        queue.deliver.concurrency = static_cast<std::uint32_t>(1 + chance.below(20));
                        queue.prefetch = queue.deliver.concurrency + static_cast<std::uint32_t>(chance.below(20));
                        if (chance.below(2) == 0) queue.deliver.slow_start = 10s;
                    }),
                    seed};
        Innocents innocents;
        std::uint64_t deaths = 0;
        std::set<std::uint64_t> killing;
        const auto killers = 1 + chance.below(2);
        for (std::uint64_t i = 0; i < killers; ++i) {
            const auto down_for = 100ms + chance.between(0us, 4s);
            for (auto n = chance.below(20); n > 0; --n) world.publish("orders", innocents.fate());
            const bool at_the_consumer = chance.below(2) == 0;
            killing.insert(world.publish(
                "orders", at_the_consumer ? kills_the_consumer(world, down_for) : kills_the_daemon(world, deaths)));
        }
        for (auto n = chance.below(60); n > 0; --n) world.publish("orders", innocents.fate());
        world.start();
        CHECK(world.run_until_settled(1h));
        CHECK(numbers_in(world, parked) == killing);
        CHECK(innocents.greatest_attempt <= 1);
        CHECK(world.lot(dlq) == 0);
        CHECK(world.complaints() == Complaints{});
    }
}

TEST_CASE("who is handed to a consumer that is dying of another is neither charged nor poison") {
    const auto concurrency = GENERATE(1U, 2U, 3U, 8U, 16U);
    const auto dying_for = GENERATE(20ms, 100ms, 300ms);
    CAPTURE(concurrency, dying_for.count());
    World world{orders([&](auto& queue) { queue.deliver.concurrency = concurrency; })};
    Innocents innocents;
    for (int i = 0; i < 16; ++i)
        world.publish("orders", i == 7 ? kills_the_consumer_slowly(world, dying_for) : innocents.fate());
    world.start();
    REQUIRE(world.run_until_settled(10min));
    CHECK(world.audit().succeeded() == 15);
    CHECK(innocents.greatest_attempt == 1);
    CHECK(numbers_in(world, parked) == std::set<std::uint64_t>{8});
}

TEST_CASE("a consumer that breaks off whatever it is handed makes nobody poison, and charges nobody twice") {
    World world{orders()};
    bool broken = true;
    std::uint32_t greatest_attempt = 0;
    for (int i = 0; i < 100; ++i)
        world.publish("orders", [&](std::uint32_t attempt, std::uint32_t) {
            greatest_attempt = std::max(greatest_attempt, attempt);
            return broken ? breaks_off() : answer(200);
        });
    world.start();
    world.run_for(30s);
    broken = false;
    REQUIRE(world.run_until_settled(30min));
    CHECK(world.audit().succeeded() == 100);
    CHECK(world.lot(parked) == 0);
    CHECK(greatest_attempt <= 2);
}
