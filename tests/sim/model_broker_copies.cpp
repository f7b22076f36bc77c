// Copies and what becomes of them.

#include "sim/broker_rig.hpp"

#include <catch2/catch.hpp>

using namespace retryd;
using namespace retryd::sim;

TEST_CASE("a copy is confirmed when it is in its queue, returned when there is none") {
    Rig rig;
    rig.queue("lane");
    const auto there = rig.copy_to("lane", "1");
    const auto nowhere = rig.copy_to("nothing", "2");
    rig.time.run_for(10ms);
    REQUIRE(rig.all<ports::Confirmed>().size() == 1);
    REQUIRE(rig.all<ports::Returned>().size() == 1);
    CHECK(rig.all<ports::Confirmed>()[0].key == there);
    CHECK(rig.all<ports::Returned>()[0].key == nowhere);
    CHECK(rig.broker.ready({"lane"}) == 1);
}

TEST_CASE("what goes wrong with a copy on demand goes wrong once") {
    Rig rig;
    rig.queue("lane");
    using Mischief = ModelBroker::Mischief;
    const auto mischief =
        GENERATE(Mischief::swallow_confirm, Mischief::nack, Mischief::nack_but_keep, Mischief::give_back_as_unroutable);
    rig.broker.next_copy(mischief);
    rig.copy_to("lane", "1");
    rig.time.run_for(1s);
    CHECK(rig.all<ports::Confirmed>().empty());
    CHECK(rig.all<ports::Nacked>().size() == (mischief == Mischief::nack || mischief == Mischief::nack_but_keep ? 1 : 0));
    CHECK(rig.all<ports::Returned>().size() == (mischief == Mischief::give_back_as_unroutable ? 1 : 0));
    CHECK(rig.broker.ready({"lane"}) == (mischief == Mischief::swallow_confirm || mischief == Mischief::nack_but_keep ? 1 : 0));
    rig.copy_to("lane", "2");
    rig.time.run_for(1s);
    CHECK(rig.all<ports::Confirmed>().size() == 1);
}

TEST_CASE("a body over the limit closes the publish channel and voids what was unconfirmed on it") {
    Rig rig;
    rig.queue("lane");
    rig.broker.limit_body(model::ByteCount{10});
    rig.copy_to("lane", std::string(11, 'x'));
    const auto void_key = rig.copy_to("lane", "after it, on the dead channel");
    rig.time.run_for(10ms);
    REQUIRE(rig.all<ports::PublishChannelClosed>().size() == 1);
    CHECK(rig.all<ports::PublishChannelClosed>()[0].code == 406);
    const auto fine = rig.copy_to("lane", "fine");
    rig.time.run_for(10ms);
    REQUIRE(rig.all<ports::Confirmed>().size() == 1);
    CHECK(rig.all<ports::Confirmed>()[0].key == fine);
    CHECK(fine != void_key);
}

TEST_CASE("a foreign user-id closes the publish channel") {
    Rig rig;
    rig.queue("lane");
    auto properties = Rig::persistent();
    properties.user_id = "alice";
    rig.copy_to("lane", "1", properties);
    rig.time.run_for(10ms);
    CHECK(rig.all<ports::PublishChannelClosed>().size() == 1);
}

TEST_CASE("during an alarm copies wait and acks go through") {
    Rig rig;
    rig.queue("lane");
    rig.put("lane", "1");
    rig.subscribe("lane");
    rig.broker.block_publishing(true);
    rig.copy_to("lane", "2");
    rig.tell(Link::consume, ports::Settle{rig.all<ports::Delivered>()[0].tag, true});
    rig.time.run_for(1min);
    CHECK(rig.all<ports::Blocked>().size() == 1);
    CHECK(rig.all<ports::Confirmed>().empty());
    CHECK(rig.broker.unacked() == 0);
    rig.broker.block_publishing(false);
    rig.time.run_for(10ms);
    CHECK(rig.all<ports::Unblocked>().size() == 1);
    CHECK(rig.all<ports::Confirmed>().size() == 1);
}

TEST_CASE("a polite end carries out what was sent before") {
    Rig rig;
    rig.queue("lane");
    rig.copy_to("lane", "1");
    rig.broker.close(Link::publish);
    rig.time.run_for(10ms);
    CHECK(rig.broker.ready({"lane"}) == 1);
    CHECK(rig.all<ports::LinkDown>().size() == 1);
}

TEST_CASE("an end that the broker never answers is bounded") {
    Rig rig;
    rig.broker.block_publishing(true);
    rig.broker.close(Link::publish);
    rig.time.run_for(6s);
    CHECK(rig.all<ports::LinkDown>().size() == 1);
}
