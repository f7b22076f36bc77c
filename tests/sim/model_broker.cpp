// Links, subscriptions, deliveries, queues and their times to live.

#include "sim/broker_rig.hpp"

#include <catch2/catch.hpp>

using namespace retryd;
using namespace retryd::sim;

TEST_CASE("both links come up and say which broker they met") {
    Rig rig;
    const auto up = rig.all<ports::LinkUp>();
    REQUIRE(up.size() == 2);
    CHECK(up[0].broker_version == "3.10.8");
}

TEST_CASE("deliveries come in order, up to the prefetch, and go on as they are acked") {
    Rig rig;
    rig.queue("lane");
    for (const auto* body : {"1", "2", "3"}) rig.put("lane", body);
    rig.subscribe("lane", 2);
    REQUIRE(rig.delivered() == Bodies{"1", "2"});
    rig.tell(Link::consume, ports::Settle{rig.all<ports::Delivered>()[0].tag, true});
    rig.time.run_for(10ms);
    CHECK(rig.delivered() == Bodies{"1", "2", "3"});
    CHECK(rig.broker.unacked() == 2);
    CHECK(rig.notes.mistakes.empty());
}

TEST_CASE("a cut link kills its tags and the messages come back to their places, marked") {
    Rig rig;
    rig.queue("lane");
    for (const auto* body : {"1", "2", "3"}) rig.put("lane", body);
    rig.subscribe("lane", 2);
    const auto old_tag = rig.all<ports::Delivered>()[0].tag;
    rig.broker.cut(Link::consume);
    rig.time.run_for(10ms);
    REQUIRE(rig.all<ports::LinkDown>().size() == 1);
    rig.broker.connect(Link::consume, 0);
    rig.time.run_for(10ms);
    rig.subscribe("lane");
    CHECK(rig.delivered() == Bodies{"1", "2", "1", "2", "3"});
    const auto again = rig.all<ports::Delivered>()[2];
    CHECK(again.arrival.redelivered);
    CHECK(again.tag.generation == old_tag.generation + 1);
    const auto headers = model::read_table(*model::read_properties(again.message->properties)->headers);
    REQUIRE(model::find_header(*headers, "x-delivery-count") != nullptr);
    rig.tell(Link::consume, ports::Settle{old_tag, true});
    rig.time.run_for(10ms);
    CHECK(rig.broker.unacked() == 3);
    CHECK(rig.notes.mistakes.empty());
}

TEST_CASE("what is handed back comes again, and only then carries the mark") {
    Rig rig;
    rig.queue("lane");
    rig.put("lane", "1");
    rig.subscribe("lane");
    CHECK_FALSE(rig.all<ports::Delivered>()[0].arrival.redelivered);
    rig.tell(Link::consume, ports::Settle{rig.all<ports::Delivered>()[0].tag, false});
    rig.time.run_for(10ms);
    REQUIRE(rig.all<ports::Delivered>().size() == 2);
    CHECK(rig.all<ports::Delivered>()[1].arrival.redelivered);
}

TEST_CASE("a tag settled twice is settled once, and the test is told") {
    Rig rig;
    rig.queue("lane");
    rig.put("lane", "1");
    rig.subscribe("lane");
    for (int i = 0; i < 2; ++i) rig.tell(Link::consume, ports::Settle{rig.all<ports::Delivered>()[0].tag, true});
    rig.time.run_for(10ms);
    CHECK(rig.all<ports::SourceClosed>().empty());
    CHECK(rig.notes.mistakes.size() == 1);
}

TEST_CASE("unsubscribed, nothing more comes, and what is in hand can still be settled") {
    Rig rig;
    rig.queue("lane");
    rig.put("lane", "1");
    rig.subscribe("lane");
    rig.tell(Link::consume, ports::Unsubscribe{rig.lane});
    rig.time.run_for(10ms);
    rig.put("lane", "2");
    rig.tell(Link::consume, ports::Settle{rig.all<ports::Delivered>()[0].tag, true});
    rig.time.run_for(10ms);
    CHECK(rig.delivered() == Bodies{"1"});
    CHECK(rig.broker.unacked() == 0);
    CHECK(rig.broker.ready({"lane"}) == 1);
    CHECK(rig.all<ports::Unsubscribed>().size() == 1);
}

TEST_CASE("looking up and declaring say what is there") {
    Rig rig;
    rig.tell(Link::consume, ports::LookUp{{"lane"}});
    rig.tell(Link::consume, ports::Declare{model::plain_queue({"lane"}, model::QueueType::quorum)});
    rig.tell(Link::consume, ports::Declare{model::plain_queue({"lane"}, model::QueueType::quorum)});
    rig.tell(Link::consume, ports::Declare{model::plain_queue({"lane"}, model::QueueType::classic)});
    rig.time.run_for(10ms);
    rig.put("lane", "1");
    rig.tell(Link::consume, ports::LookUp{{"lane"}});
    rig.time.run_for(10ms);
    const auto looked = rig.all<ports::LookedUp>();
    const auto declared = rig.all<ports::Declared>();
    REQUIRE(looked.size() == 2);
    REQUIRE(declared.size() == 3);
    CHECK((looked[0].code == 404 && !looked[0].found));
    CHECK((looked[1].found && looked[1].messages == 1));
    CHECK((declared[0].declared && declared[1].declared));
    CHECK((!declared[2].declared && declared[2].code == 406));
}

TEST_CASE("a subscription to a missing queue closes its channel with 404") {
    Rig rig;
    rig.subscribe("nothing");
    REQUIRE(rig.all<ports::SourceClosed>().size() == 1);
    CHECK(rig.all<ports::SourceClosed>()[0].code == 404);
}

TEST_CASE("a deleted queue cancels its subscriber, and what was in it is gone") {
    Rig rig;
    rig.queue("lane");
    for (const auto* body : {"1", "2"}) rig.put("lane", body);
    rig.subscribe("lane", 1);
    rig.broker.remove({"lane"});
    rig.time.run_for(10ms);
    CHECK(rig.all<ports::SubscriptionLost>().size() == 1);
    CHECK(rig.notes.lost == Bodies{"1", "2"});
    rig.tell(Link::consume, ports::Settle{rig.all<ports::Delivered>()[0].tag, true});
    rig.time.run_for(10ms);
    CHECK(rig.all<ports::SourceClosed>().empty());
    CHECK(rig.notes.mistakes.empty());
}

TEST_CASE("what waits in a tier comes to the lane when its time is over, changed as the broker changes it") {
    Rig rig;
    rig.queue("lane");
    rig.tier("delay.800ms", 800ms);
    model::TableWriter table;
    table.add_string("z", "kept");
    table.add_array("CC", "");
    auto properties = Rig::persistent();
    properties.headers = table.bytes();
    rig.broker.publish({"delay.800ms"}, {"", "delay.800ms", false}, {model::write_properties(properties), "1"});
    rig.subscribe("lane");
    rig.time.run_for(789ms);
    CHECK(rig.delivered().empty());
    rig.time.run_for(10ms);
    REQUIRE(rig.delivered() == Bodies{"1"});
    const auto arrived = rig.all<ports::Delivered>()[0];
    CHECK(arrived.arrival.exchange.empty());
    CHECK(arrived.arrival.routing_key == "lane");
    const auto headers = model::read_table(*model::read_properties(arrived.message->properties)->headers);
    CHECK(model::find_header(*headers, "z") != nullptr);
    CHECK(model::find_header(*headers, "x-death") != nullptr);
    CHECK(model::find_header(*headers, "x-first-death-queue") != nullptr);
    CHECK(model::find_header(*headers, "CC") == nullptr);
}

TEST_CASE("the smaller time to live counts, but only at the head of the queue") {
    Rig rig;
    rig.queue("lane");
    rig.tier("t", 10s);
    auto properties = Rig::persistent();
    properties.expiration = "2000";
    rig.broker.publish({"t"}, {"", "t", false}, {model::write_properties(properties), "short"});
    rig.put("t", "long");
    properties.expiration = "20";
    rig.broker.publish({"t"}, {"", "t", false}, {model::write_properties(properties), "stuck"});
    rig.subscribe("lane");
    rig.time.run_for(3s);
    CHECK(rig.delivered() == Bodies{"short"});
    rig.time.run_for(8s);
    CHECK(rig.delivered() == Bodies{"short", "long", "stuck"});
}

TEST_CASE("without its target a quorum tier keeps what expired, for up to three minutes after the target's return") {
    Rig rig;
    rig.tier("t", 100ms);
    rig.put("t", "1");
    rig.time.run_for(1s);
    rig.queue("lane");
    rig.put("t", "2");
    rig.subscribe("lane");
    rig.time.run_for(2min);
    CHECK(rig.delivered().empty());
    rig.time.run_for(1min);
    CHECK(rig.delivered() == Bodies{"1", "2"});
    CHECK(rig.notes.lost.empty());
}

TEST_CASE("without its target a classic tier drops what expired") {
    Rig rig;
    rig.tier("t.classic", 100ms, model::QueueType::classic);
    rig.put("t.classic", "1");
    rig.time.run_for(1s);
    CHECK(rig.notes.lost == Bodies{"1"});
}

TEST_CASE("a broker that is down refuses, and what expired meanwhile moves when it is back") {
    Rig rig;
    rig.queue("lane");
    rig.tier("t", 100ms);
    rig.put("t", "1");
    rig.broker.run(false);
    rig.time.run_for(10ms);
    CHECK(rig.all<ports::LinkDown>().size() == 2);
    rig.broker.connect(Link::consume, 0);
    rig.time.run_for(1min);
    REQUIRE(rig.all<ports::LinkDown>().size() == 3);
    CHECK_FALSE(rig.all<ports::LinkDown>()[2].refused);
    CHECK(rig.broker.ready({"t"}) == 1);
    rig.broker.run(true);
    CHECK(rig.broker.ready({"lane"}) == 1);
}

TEST_CASE("a login that is refused says so") {
    Rig rig;
    rig.broker.cut(Link::publish);
    rig.broker.refuse_logins(true);
    rig.time.run_for(10ms);
    rig.broker.connect(Link::publish, 0);
    rig.time.run_for(10ms);
    REQUIRE(rig.all<ports::LinkDown>().size() == 2);
    CHECK(rig.all<ports::LinkDown>()[1].refused);
}

TEST_CASE("a link that was told to stop reading gets no deliveries until it reads again") {
    Rig rig;
    rig.queue("lane");
    rig.subscribe("lane");
    rig.tell(Link::consume, ports::SetReading{false});
    rig.time.run_for(10ms);
    rig.put("lane", "1");
    rig.time.run_for(1s);
    CHECK(rig.delivered().empty());
    rig.tell(Link::consume, ports::SetReading{true});
    rig.time.run_for(10ms);
    CHECK(rig.delivered() == Bodies{"1"});
}
