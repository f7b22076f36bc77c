// What the contract says of the links themselves.

#include "contract/talk.hpp"

using namespace retryd;
using namespace retryd::contract;

TEST_CASE("a link that comes up says who the broker is and how large a frame may be") {
    Talk talk;
    talk.stage().broker().close(Link::publish);
    (void)talk.hear_down(Link::publish);
    const auto up = talk.connect(Link::publish);
    CHECK_FALSE(up.broker_version.empty());
    CHECK(up.frame_max == 131072);
}

TEST_CASE("a disconnected link is down once, and its end is no refusal") {
    Talk talk;
    for (const Link link : {Link::consume, Link::publish}) {
        talk.stage().broker().disconnect(link);
        talk.stage().broker().disconnect(link);
        const auto down = talk.hear_down(link);
        CHECK_FALSE(down.refused);
        CHECK_FALSE(down.why.empty());
        talk.stage().broker().disconnect(link);
        talk.stage().broker().close(link);
        (void)talk.connect(link);
        CHECK(talk.unheard<ports::LinkDown>() == 0);
    }
}

TEST_CASE("a link can be disconnected before it is up") {
    Talk talk;
    talk.stage().broker().close(Link::publish);
    (void)talk.hear_down(Link::publish);
    for (int i = 0; i < 5; ++i) {
        talk.stage().broker().connect(Link::publish, 0);
        talk.stage().broker().disconnect(Link::publish);
        (void)talk.hear_down(Link::publish);
    }
    (void)talk.connect(Link::publish);
    CHECK(talk.unheard<ports::LinkDown>() == 0);
}

TEST_CASE("commands for a link that is down are dropped") {
    Talk talk;
    const QueueName queue = talk.make_queue("w");
    talk.stage().broker().close(Link::publish);
    (void)talk.hear_down(Link::publish);
    (void)talk.publish(queue, message("nobody hears"));
    (void)talk.connect(Link::publish);
    talk.settle_down();
    CHECK(talk.stage().ready(queue) == 0U);
    CHECK(talk.unheard<ports::Confirmed>() == 0);
}

TEST_CASE("commands for a link that is not known to be up are dropped") {
    Talk talk;
    const QueueName queue = talk.make_queue("w");
    const QueueName early = talk.stage().fresh_name("early");
    for (const Link link : {Link::consume, Link::publish}) {
        talk.stage().broker().close(link);
        (void)talk.hear_down(link);
        talk.stage().broker().connect(link, 0);
        const bool up = talk.stage().run_until([&] {  // the broker lets us in at some time before we hear of it
            for (int i = 0; i < 20 && talk.unheard<ports::LinkUp>() == 0; ++i) {
                talk.say_all(link, {ports::LookUp{early}});
                (void)talk.stage().ready(queue);
            }
            return talk.unheard<ports::LinkUp>() > 0;
        });
        REQUIRE(up);
        (void)talk.hear<ports::LinkUp>();
        talk.say_all(link, {ports::LookUp{queue}});
        CHECK(talk.hear<ports::LookedUp>().queue == queue);
    }
}

TEST_CASE("closing flushes what was sent before it") {
    Talk talk;
    const QueueName queue = talk.make_queue("w");
    for (int i = 0; i < 20; ++i) talk.stage().put(queue, message(std::to_string(i)));
    (void)talk.subscribe(work, queue, 20);
    std::vector<ports::BrokerCommand> settles;
    for (int i = 0; i < 20; ++i) settles.emplace_back(ports::Settle{talk.hear<ports::Delivered>().tag, true});
    talk.say_all(Link::consume, std::move(settles));
    talk.stage().broker().close(Link::consume);
    CHECK_FALSE(talk.hear_down(Link::consume).refused);
    CHECK(talk.stage().ready(queue) == 0U);
}

TEST_CASE("generations never repeat, on whatever connection") {
    Talk talk;
    const QueueName queue = talk.make_queue("w");
    std::set<std::uint32_t> seen;
    for (int i = 0; i < 4; ++i) {
        CHECK(seen.insert(talk.subscribe(work, queue)).second);
        CHECK(seen.insert(talk.subscribe(lane, queue)).second);
        talk.stage().broker().disconnect(Link::consume);
        (void)talk.hear_down(Link::consume);
        (void)talk.connect(Link::consume);
    }
}

TEST_CASE("a link that is up has a pulse") {
    Talk talk;
    CHECK(talk.hear<ports::LinkPulse>().lives);
    CHECK(talk.hear<ports::LinkPulse>().lives);
}
