// What the contract says of copies, confirms and returns.

#include "contract/bytes.hpp"
#include "contract/talk.hpp"

using namespace retryd;
using namespace retryd::contract;

namespace {

std::string with_headers(std::size_t size, std::string_view id = {}) {
    model::TableWriter table;
    if (!id.empty()) table.add_string("retryd-id", id);
    table.add_string("filler", std::string(size, 'x'));
    model::Properties properties;
    properties.headers = table.bytes();
    return model::write_properties(properties);
}

std::string with_id(std::string_view id) {
    return with_headers(1, id);
}

}  // namespace

TEST_CASE("a copy is confirmed and is in its queue") {
    Talk talk;
    const QueueName queue = talk.make_queue("w");
    talk.hear_confirm(talk.publish(queue, message("hello")));
    CHECK(talk.becomes_ready(queue, 1));
}

TEST_CASE("a copy to a missing queue is returned, and never confirmed") {
    Talk talk;
    const auto key = talk.publish(talk.stage().fresh_name("missing"), message("hello", with_id("a")), "a");
    const auto returned = talk.hear_return(key);
    CHECK(returned.code == 312);
    CHECK_FALSE(returned.why.empty());
    talk.settle_down();
    CHECK(talk.unheard<ports::Confirmed>() == 0);
    CHECK(talk.unheard<ports::Returned>() == 0);
}

TEST_CASE("of copies in flight together, the right ones are returned and the others confirmed") {
    Talk talk;
    const QueueName there = talk.make_queue("w");
    const QueueName missing = talk.stage().fresh_name("missing");
    std::vector<ports::PublishKey> good;
    std::vector<ports::PublishKey> bad;
    for (int i = 0; i < 60; ++i) {
        const std::string id = i % 5 == 0 ? "" : "id-" + std::to_string(i / 2);  // some without, some shared by two
        const bool lost = i % 3 == 0;
        auto copy = message(std::to_string(i), id.empty() ? std::string(2, '\0') : with_id(id));
        (lost ? bad : good).push_back(talk.publish(lost ? missing : there, std::move(copy), id));
    }
    for (const auto key : bad) (void)talk.hear_return(key);
    for (const auto key : good) talk.hear_confirm(key);
    talk.settle_down();
    CHECK(talk.unheard<ports::Confirmed>() == 0);
    CHECK(talk.unheard<ports::Returned>() == 0);
    CHECK(talk.becomes_ready(there, static_cast<std::uint32_t>(good.size())));
}

TEST_CASE("headers that no frame can hold give the copy back and disturb nothing else") {
    Talk talk;
    const QueueName queue = talk.make_queue("w");
    const auto before = talk.publish(queue, message("before"));
    const auto giant = talk.publish(queue, message("giant", with_headers(140'000)));
    const auto after = talk.publish(queue, message("after"));
    talk.hear_confirm(before);
    CHECK_FALSE(talk.hear_return(giant).why.empty());
    talk.hear_confirm(after);
    talk.settle_down();
    CHECK(talk.unheard<ports::PublishChannelClosed>() == 0);
    CHECK(talk.unheard<ports::LinkDown>() == 0);
    CHECK(talk.becomes_ready(queue, 2));
}

TEST_CASE("headers that just fill a frame are confirmed") {
    Talk talk;
    const QueueName queue = talk.make_queue("w", QueueType::classic);
    const std::uint32_t frame_max = 131072;
    const std::string fitting = with_headers(frame_max - 20 - with_headers(0).size());
    CHECK(fitting.size() == frame_max - 20);
    talk.hear_confirm(talk.publish(queue, message("full", fitting)));
    (void)talk.hear_return(talk.publish(queue, message("over", with_headers(frame_max - 20 - with_headers(0).size() + 1))));
}

TEST_CASE("properties that are malformed give the copy back") {
    Talk talk;
    const QueueName queue = talk.make_queue("w");
    const std::string cut = model::write_properties(all_properties(every_header_type())).substr(0, 40);
    (void)talk.hear_return(talk.publish(queue, message("cut", cut)));
    talk.hear_confirm(talk.publish(queue, message("hello")));
}

TEST_CASE("a user-id that is not ours closes the publish channel, which opens again by itself") {
    Talk talk;
    const QueueName queue = talk.make_queue("w");
    model::Properties forged;
    forged.user_id = "alice";
    (void)talk.publish(queue, message("forged", model::write_properties(forged)));
    const auto closed = talk.hear<ports::PublishChannelClosed>();
    CHECK(closed.code == 406);
    CHECK_FALSE(closed.why.empty());
    talk.hear_confirm(talk.publish(queue, message("hello")));
    CHECK(talk.becomes_ready(queue, 1));
}

TEST_CASE("copies sent before their sender has seen the channel close are void") {
    Talk talk;
    const QueueName queue = talk.make_queue("w");
    model::Properties forged;
    forged.user_id = "alice";
    const auto closed_now = [&] { return talk.unheard<ports::PublishChannelClosed>() > 0; };
    std::uint32_t published = 0;
    while (!closed_now()) {  // each one is on its way before the event is seen
        (void)talk.publish(queue, message("void", published == 0 ? model::write_properties(forged) : std::string(2, '\0')));
        ++published;
        const bool go_on = talk.stage().run_until([&, first = true]() mutable { return !std::exchange(first, false); });
        REQUIRE(go_on);
    }
    (void)talk.hear<ports::PublishChannelClosed>();
    talk.settle_down();
    CHECK(talk.unheard<ports::Confirmed>() == 0);
    CHECK(talk.stage().ready(queue) == 0U);
}
