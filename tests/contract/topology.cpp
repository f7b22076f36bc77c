// What the contract says of looking up and declaring, and of the way through a tier.

#include "contract/bytes.hpp"
#include "contract/talk.hpp"
#include "model/tiers.hpp"

#include <algorithm>

using namespace retryd;
using namespace retryd::contract;
using namespace std::chrono_literals;

namespace {

model::QueueSpec plain(const QueueName& name, QueueType type = QueueType::quorum) {
    return {name, type, std::nullopt, {}};
}

ports::Declared declare(Talk& talk, model::QueueSpec spec) {
    const QueueName name = spec.name;
    talk.say(ports::Declare{std::move(spec)});
    return talk.hear<ports::Declared>([&](const ports::Declared& it) { return it.queue == name; });
}

ports::LookedUp look_up(Talk& talk, const QueueName& name) {
    talk.say(ports::LookUp{name});
    return talk.hear<ports::LookedUp>([&](const ports::LookedUp& it) { return it.queue == name; });
}

}  // namespace

TEST_CASE("a missing queue is looked up as 404, and the next question is answered all the same") {
    Talk talk;
    const QueueName missing = talk.stage().fresh_name("missing");
    const QueueName there = talk.make_queue("w");
    talk.say_all(Link::consume, {ports::LookUp{missing}, ports::LookUp{there}, ports::LookUp{missing}});
    for (const QueueName& name : {missing, there, missing}) {
        const auto answer = talk.hear<ports::LookedUp>();
        CHECK(answer.queue == name);
        CHECK(answer.found == (name == there));
        CHECK(answer.code == (name == there ? 0 : 404));
        CHECK(answer.why.empty() == (name == there));
    }
}

TEST_CASE("looking up tells how many messages wait and how many consume") {
    Talk talk;
    const QueueName queue = talk.make_queue("w", QueueType::classic);
    talk.stage().put(queue, message("1"));
    talk.stage().put(queue, message("2"));
    REQUIRE(talk.becomes_ready(queue, 2));
    auto answer = look_up(talk, queue);
    CHECK(answer.found);
    CHECK(answer.messages == 2);
    CHECK(answer.consumers == 0);

    (void)talk.subscribe(work, queue, 1);
    (void)talk.hear<ports::Delivered>();
    answer = look_up(talk, queue);
    CHECK(answer.messages == 1);
    CHECK(answer.consumers == 1);
}

TEST_CASE("a queue is declared, and declared again") {
    Talk talk;
    for (const QueueType type : {QueueType::quorum, QueueType::classic}) {
        const QueueName name = talk.stage().fresh_name("declared");
        CHECK(declare(talk, plain(name, type)).declared);
        CHECK(declare(talk, plain(name, type)).declared);
        CHECK(look_up(talk, name).found);
    }
}

TEST_CASE("declaring again with other arguments is refused with 406, and costs the sources nothing") {
    Talk talk;
    const QueueName queue = talk.make_queue("w");
    (void)talk.subscribe(work, queue);
    const QueueName name = talk.stage().fresh_name("declared");
    CHECK(declare(talk, plain(name, QueueType::quorum)).declared);
    const auto refused = declare(talk, {name, QueueType::quorum, 1000ms, queue});
    CHECK_FALSE(refused.declared);
    CHECK(refused.code == 406);
    CHECK_FALSE(refused.why.empty());
    CHECK_FALSE(declare(talk, plain(name, QueueType::classic)).declared);

    talk.stage().put(queue, message("hello"));
    CHECK(talk.hear<ports::Delivered>().message->body == "hello");
    CHECK(talk.unheard<ports::SourceClosed>() == 0);
}

TEST_CASE("a name over 255 bytes is refused and nothing else happens") {
    Talk talk;
    const QueueName longest{std::string(256, 'q')};
    CHECK_FALSE(declare(talk, plain(longest)).declared);
    CHECK_FALSE(look_up(talk, longest).found);
    talk.say(ports::Subscribe{work, longest, 1});
    CHECK(talk.hear<ports::SourceClosed>().source == work);
    const auto key = talk.publish(longest, message("x"));
    CHECK_FALSE(talk.hear_return(key).why.empty());
    talk.settle_down();
    CHECK(talk.unheard<ports::LinkDown>() == 0);
}

TEST_CASE("what waits in a tier comes back through the lane with its body, properties and headers") {
    for (const QueueType type : {QueueType::quorum, QueueType::classic}) {
        Talk talk;
        const QueueName lane_name = talk.stage().fresh_name("lane");
        const QueueName tier = talk.stage().fresh_name("tier");
        CHECK(declare(talk, plain(lane_name, type)).declared);
        CHECK(declare(talk, {tier, type, 50ms, lane_name}).declared);
        (void)talk.subscribe(lane, lane_name);

        const std::string headers = every_header_type();
        const model::Properties sent = all_properties(headers);
        talk.hear_confirm(talk.publish(tier, message("body", model::write_properties(sent))));

        const auto back = talk.hear<ports::Delivered>();
        CHECK(back.tag.source == lane);
        CHECK(back.message->body == "body");
        CHECK(back.arrival.routing_key == lane_name.value);
        const auto read = model::read_properties(back.message->properties);
        REQUIRE(read.has_value());
        CHECK(read->content_type == sent.content_type);
        CHECK(read->content_encoding == sent.content_encoding);
        CHECK(read->delivery_mode == sent.delivery_mode);
        CHECK(read->priority == sent.priority);
        CHECK(read->correlation_id == sent.correlation_id);
        CHECK(read->reply_to == sent.reply_to);
        CHECK_FALSE(read->expiration);
        CHECK(read->message_id == sent.message_id);
        CHECK(read->timestamp == sent.timestamp);
        CHECK(read->type == sent.type);
        CHECK_FALSE(read->user_id);
        CHECK(read->app_id == sent.app_id);
        CHECK(read->cluster_id == sent.cluster_id);

        const auto before = model::read_table(headers);
        const auto after = model::read_table(read->headers.value_or(""));
        REQUIRE(before.has_value());
        REQUIRE(after.has_value());
        for (const auto& header : *before) {  // the broker adds its own and sorts
            CAPTURE(header.name);
            const auto same = [&](const model::HeaderView& other) {
                return other.name == header.name && other.value.type == header.value.type &&
                       other.value.bytes == header.value.bytes;
            };
            CHECK(std::any_of(after->begin(), after->end(), same));
        }
        CHECK(model::find_header(*after, "x-death") != nullptr);
        talk.say(ports::Settle{back.tag, true});
    }
}
