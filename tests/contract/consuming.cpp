// What the contract says of subscriptions, deliveries and settling.

#include "contract/talk.hpp"
#include "unit/model/samples.hpp"

#include "model/content_hash.hpp"
#include "model/properties.hpp"

#include <algorithm>

using namespace retryd;
using namespace retryd::contract;

TEST_CASE("a message is delivered with its route and is gone after its ack") {
    Talk talk;
    const QueueName queue = talk.make_queue("w");
    talk.stage().put(queue, message("hello"));
    const std::uint32_t generation = talk.subscribe(work, queue);

    const auto delivered = talk.hear<ports::Delivered>();
    CHECK(delivered.message->body == "hello");
    CHECK(delivered.arrival.exchange.empty());
    CHECK(delivered.arrival.routing_key == queue.value);
    CHECK_FALSE(delivered.arrival.redelivered);
    CHECK(delivered.tag.source == work);
    CHECK(delivered.tag.generation == generation);

    talk.say(ports::Settle{delivered.tag, true});
    talk.settle_down();
    talk.stage().broker().close(Link::consume);
    (void)talk.hear_down(Link::consume);
    CHECK(talk.stage().ready(queue) == 0U);  // nothing came back when the connection went
}

TEST_CASE("what was not settled comes back redelivered when its link is gone") {
    Talk talk;
    const QueueName queue = talk.make_queue("w");
    talk.stage().put(queue, message("hello"));
    (void)talk.subscribe(work, queue);
    const auto first = talk.hear<ports::Delivered>();
    talk.stage().broker().disconnect(Link::consume);
    CHECK_FALSE(talk.hear_down(Link::consume).refused);

    (void)talk.connect(Link::consume);
    const std::uint32_t generation = talk.subscribe(work, queue);
    CHECK(generation != first.tag.generation);
    const auto second = talk.hear<ports::Delivered>();
    CHECK(second.message->body == "hello");
    CHECK(second.arrival.redelivered);
    CHECK(second.tag.generation == generation);
}

TEST_CASE("what comes again has the content that it had") {
    const auto type = GENERATE(QueueType::quorum, QueueType::classic);
    const auto headers = samples::table(samples::every_kind());
    model::Properties properties;
    properties.delivery_mode = 2;
    properties.message_id = "m";
    if (GENERATE(true, false)) properties.headers = headers;
    Talk talk;
    const QueueName queue = talk.make_queue("w", type);
    talk.stage().put(queue, message("hello", model::write_properties(properties)));
    (void)talk.subscribe(work, queue);
    const auto first = talk.hear<ports::Delivered>();
    const auto content = model::content_hash(work, first.arrival, *first.message);
    for (int i = 0; i < 2; ++i) {
        talk.stage().broker().disconnect(Link::consume);
        (void)talk.hear_down(Link::consume);
        (void)talk.connect(Link::consume);
        (void)talk.subscribe(work, queue);
        const auto again = talk.hear<ports::Delivered>();
        CHECK(again.arrival.redelivered);
        CHECK(model::content_hash(work, again.arrival, *again.message) == content);
    }
}

TEST_CASE("a tag of a dead generation is dropped in silence") {
    Talk talk;
    const QueueName queue = talk.make_queue("w");
    talk.stage().put(queue, message("hello"));
    (void)talk.subscribe(work, queue);
    const auto first = talk.hear<ports::Delivered>();
    talk.stage().broker().disconnect(Link::consume);
    (void)talk.hear_down(Link::consume);
    (void)talk.connect(Link::consume);
    (void)talk.subscribe(work, queue);
    const auto second = talk.hear<ports::Delivered>();
    CHECK(second.tag.tag == first.tag.tag);  // the same number, which is why the generation matters

    talk.say(ports::Settle{first.tag, true});
    talk.settle_down();
    CHECK(talk.unheard<ports::SourceClosed>() == 0);
    talk.stage().broker().close(Link::consume);
    (void)talk.hear_down(Link::consume);
    CHECK(talk.becomes_ready(queue, 1));
}

TEST_CASE("a delivery that is settled twice is settled once") {
    Talk talk;
    const QueueName queue = talk.make_queue("w");
    talk.stage().put(queue, message("hello"));
    (void)talk.subscribe(work, queue);
    const auto delivered = talk.hear<ports::Delivered>();
    talk.say(ports::Settle{delivered.tag, true});
    talk.say(ports::Settle{delivered.tag, true});
    talk.say(ports::Settle{delivered.tag, false});
    talk.settle_down();
    CHECK(talk.unheard<ports::SourceClosed>() == 0);
}

// That an ack has been carried out shows only in what the broker delivers for it: a quorum queue of RabbitMQ works at 32 acks
// at a time and forgets the others when their connection ends.
TEST_CASE("many deliveries settled out of order are all settled, and only they") {
    Talk talk;
    const QueueName queue = talk.make_queue("w");
    constexpr std::uint32_t count = 40;
    for (std::uint32_t i = 0; i < count; ++i) talk.stage().put(queue, message(std::to_string(i)));
    (void)talk.subscribe(work, queue, count);
    std::vector<model::DeliveryTag> tags;
    for (std::uint32_t i = 0; i < count; ++i) tags.push_back(talk.hear<ports::Delivered>().tag);

    std::vector<ports::BrokerCommand> settles;
    for (std::uint32_t i = 0; i < count; ++i) {
        const std::uint32_t shuffled = i * 7 % count;
        if (shuffled % 10 != 3) settles.emplace_back(ports::Settle{tags[shuffled], true});
    }
    const std::size_t settled = settles.size();
    talk.say_all(Link::consume, std::move(settles));
    for (std::uint32_t i = 0; i < count; ++i) talk.stage().put(queue, message("later"));
    for (std::size_t i = 0; i < settled; ++i) CHECK(talk.hear<ports::Delivered>().message->body == "later");
    CHECK(talk.becomes_ready(queue, static_cast<std::uint32_t>(count - settled)));

    talk.stage().broker().close(Link::consume);
    (void)talk.hear_down(Link::consume);
    CHECK(talk.unheard<ports::Delivered>() == 0);
    (void)talk.connect(Link::consume);
    (void)talk.subscribe(work, queue, 2 * count);
    std::multiset<std::string> left;
    for (std::uint32_t i = 0; i < count + count - settled; ++i) left.insert(talk.hear<ports::Delivered>().message->body);
    CHECK(left.count("later") == count);
    for (const char* body : {"3", "13", "23", "33"}) CHECK(left.count(body) == 1);
}

TEST_CASE("what was acked stays so, however much is given back in the same breath before closing") {
    Talk talk;
    const QueueName queue = talk.make_queue("w");
    constexpr std::uint32_t count = 80;
    for (std::uint32_t i = 0; i < count; ++i) talk.stage().put(queue, message(std::to_string(i)));
    (void)talk.subscribe(work, queue, count);
    std::vector<ports::BrokerCommand> settles;
    for (std::uint32_t i = 0; i < count; ++i)
        settles.emplace_back(ports::Settle{talk.hear<ports::Delivered>().tag, i % 8 == 7});
    std::stable_partition(settles.begin(), settles.end(), [](const auto& it) { return std::get<ports::Settle>(it).ack; });
    talk.say(ports::Unsubscribe{work});
    (void)talk.hear<ports::Unsubscribed>();
    talk.say_all(Link::consume, std::move(settles));
    talk.stage().broker().close(Link::consume);
    (void)talk.hear_down(Link::consume);
    CHECK(talk.becomes_ready(queue, count - count / 8));
}

TEST_CASE("the prefetch bounds what is in hand, and acks let more come") {
    Talk talk;
    const QueueName queue = talk.make_queue("w");
    for (int i = 0; i < 5; ++i) talk.stage().put(queue, message(std::to_string(i)));
    (void)talk.subscribe(work, queue, 2);
    const auto first = talk.hear<ports::Delivered>();
    (void)talk.hear<ports::Delivered>();
    CHECK(talk.becomes_ready(queue, 3));
    CHECK(talk.unheard<ports::Delivered>() == 0);
    talk.say(ports::Settle{first.tag, true});
    CHECK(talk.hear<ports::Delivered>().message->body == "2");
}

TEST_CASE("what is given back comes again, redelivered") {
    Talk talk;
    const QueueName queue = talk.make_queue("w");
    talk.stage().put(queue, message("hello"));
    (void)talk.subscribe(work, queue);
    talk.say(ports::Settle{talk.hear<ports::Delivered>().tag, false});
    CHECK(talk.hear<ports::Delivered>().arrival.redelivered);
}

TEST_CASE("after unsubscribing nothing comes, and what is in hand can still be settled") {
    Talk talk;
    const QueueName queue = talk.make_queue("w");
    talk.stage().put(queue, message("in hand"));
    const std::uint32_t generation = talk.subscribe(work, queue);
    const auto delivered = talk.hear<ports::Delivered>();
    talk.say(ports::Unsubscribe{work});
    CHECK(talk.hear<ports::Unsubscribed>().source == work);

    talk.stage().put(queue, message("later"));
    talk.say(ports::Settle{delivered.tag, true});
    CHECK(talk.becomes_ready(queue, 1));
    talk.settle_down();
    CHECK(talk.unheard<ports::Delivered>() == 0);

    CHECK(talk.subscribe(work, queue) == generation);  // on the channel that it has
    CHECK(talk.hear<ports::Delivered>().message->body == "later");
}

TEST_CASE("unsubscribing what is not subscribed is answered") {
    Talk talk;
    talk.say(ports::Unsubscribe{work});
    CHECK(talk.hear<ports::Unsubscribed>().source == work);
}

TEST_CASE("a subscription to a missing queue closes its source with 404, and no other") {
    Talk talk;
    const QueueName queue = talk.make_queue("w");
    (void)talk.subscribe(lane, queue);
    talk.say(ports::Subscribe{work, talk.stage().fresh_name("missing"), 1});
    const auto closed = talk.hear<ports::SourceClosed>();
    CHECK(closed.source == work);
    CHECK(closed.code == 404);
    CHECK_FALSE(closed.why.empty());

    talk.stage().put(queue, message("hello"));
    CHECK(talk.hear<ports::Delivered>().tag.source == lane);
    (void)talk.subscribe(work, queue);  // the source can be subscribed again
}

TEST_CASE("a queue deleted under a subscription is a lost subscription") {
    Talk talk;
    const QueueName queue = talk.make_queue("w");
    (void)talk.subscribe(work, queue);
    talk.stage().delete_queue(queue);
    CHECK(talk.hear<ports::SubscriptionLost>().source == work);

    talk.stage().make_queue(queue, QueueType::quorum);
    (void)talk.subscribe(work, queue);
    talk.stage().put(queue, message("hello"));
    CHECK(talk.hear<ports::Delivered>().message->body == "hello");
}

TEST_CASE("while reading is stopped nothing is delivered, and everything comes afterwards") {
    Talk talk;
    const QueueName queue = talk.make_queue("w");
    (void)talk.subscribe(work, queue);
    talk.settle_down();
    talk.say(ports::SetReading{false});
    talk.stage().put(queue, message("hello"));
    const bool in_hand_of_nobody = talk.becomes_ready(queue, 0);  // the broker has sent it
    CHECK(in_hand_of_nobody);
    CHECK(talk.unheard<ports::Delivered>() == 0);
    talk.say(ports::SetReading{true});
    CHECK(talk.hear<ports::Delivered>().message->body == "hello");
}
