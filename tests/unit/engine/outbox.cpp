#include "engine/outbox.hpp"

#include <catch2/catch.hpp>

#include <vector>

using namespace retryd;
using engine::Outbox;
using model::SteadyTime;

namespace {

constexpr SteadyTime start{std::chrono::hours{1}};
constexpr std::size_t many = 1000;

class Listener : public ports::Broker {
public:
    void connect(ports::Link, std::size_t) override {}
    void disconnect(ports::Link) override {}
    void close(ports::Link) override {}
    void send(ports::Link, std::vector<ports::BrokerCommand>& commands) override {
        for (auto& command : commands) heard.push_back(std::move(command));
        commands.clear();
    }
    std::vector<ports::BrokerCommand> heard;
};

Outbox with_acks(std::size_t count) {
    Outbox box;
    for (std::size_t i = 0; i < count; ++i) box.add_patient(ports::Settle{}, start);
    return box;
}

}  // namespace

TEST_CASE("an ack waits for others while much is under way, a moment at most") {
    const auto box = with_acks(1);
    CHECK(box.next() == start + Outbox::moment);
    CHECK(box.may_wait(many, start));
    CHECK(box.may_wait(many, start + Outbox::moment - model::Microseconds{1}));
    CHECK_FALSE(box.may_wait(many, start + Outbox::moment));
}

TEST_CASE("an ack that others may be waiting for goes at once") {
    CHECK_FALSE(with_acks(1).may_wait(0, start));
    CHECK_FALSE(with_acks(1).may_wait(4, start));
    CHECK(with_acks(1).may_wait(5, start));
    CHECK(with_acks(10).may_wait(41, start));
    CHECK_FALSE(with_acks(10).may_wait(40, start));
}

TEST_CASE("the moment begins with the first that waits") {
    auto box = with_acks(1);
    box.add_patient(ports::Settle{}, start + Outbox::moment / 2);
    CHECK(box.next() == start + Outbox::moment);
}

TEST_CASE("what cannot wait takes the others with it, in order") {
    auto box = with_acks(1);
    box.add(ports::Unsubscribe{});
    CHECK_FALSE(box.may_wait(many, start));
    Listener broker;
    box.hand_over(broker, ports::Link::consume);
    REQUIRE(broker.heard.size() == 2);
    CHECK(std::holds_alternative<ports::Settle>(broker.heard[0]));
    CHECK(std::holds_alternative<ports::Unsubscribe>(broker.heard[1]));
    CHECK(box.next() == SteadyTime::max());
    box.hand_over(broker, ports::Link::consume);
    CHECK(broker.heard.size() == 2);
}

TEST_CASE("copies that became void are not handed over, questions are") {
    Outbox box;
    box.add_patient(ports::PublishCopy{}, start);
    box.add(ports::LookUp{});
    box.add_patient(ports::PublishCopy{}, start);
    box.drop_copies();
    CHECK(box.next() == SteadyTime::max());
    Listener broker;
    box.hand_over(broker, ports::Link::publish);
    REQUIRE(broker.heard.size() == 1);
    CHECK(std::holds_alternative<ports::LookUp>(broker.heard[0]));
}

TEST_CASE("nothing is left of what was for a link that is gone") {
    auto box = with_acks(3);
    box.clear();
    CHECK(box.next() == SteadyTime::max());
    Listener broker;
    box.hand_over(broker, ports::Link::consume);
    CHECK(broker.heard.empty());
}
