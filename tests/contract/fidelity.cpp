// What the contract says of bytes: what is put in comes out.

#include "contract/bytes.hpp"
#include "contract/talk.hpp"

#include <array>

using namespace retryd;
using namespace retryd::contract;

namespace {

std::string body_of(std::size_t size) {
    std::string body(size, '\0');
    for (std::size_t i = 0; i < size; ++i) body[i] = static_cast<char>(i * 31 + i / 257);
    return body;
}

// Bodies travel in frames of at most frame_max bytes, 8 of which are not body.
constexpr std::size_t in_one_frame = 131072 - 8;

}  // namespace

TEST_CASE("bodies of any size are delivered and copied byte for byte") {
    Talk talk;
    const QueueName queue = talk.make_queue("w", QueueType::classic);
    (void)talk.subscribe(work, queue);
    constexpr std::array<std::size_t, 9> sizes{
        0, 1, in_one_frame - 1, in_one_frame, in_one_frame + 1, 2 * in_one_frame, 2 * in_one_frame + 1, 5 * 1024 * 1024 + 3, 0};
    for (const std::size_t size : sizes) {
        CAPTURE(size);
        const std::string body = body_of(size);
        talk.stage().put(queue, message(body));
        const auto arrived = talk.hear<ports::Delivered>();
        CHECK(arrived.message->body.size() == size);
        CHECK((arrived.message->body == body));
        talk.say(ports::Settle{arrived.tag, true});

        talk.hear_confirm(talk.publish(queue, message(body)));
        const auto copied = talk.hear<ports::Delivered>();
        CHECK((copied.message->body == body));
        talk.say(ports::Settle{copied.tag, true});
    }
}

TEST_CASE("every property and every type of header is delivered byte for byte") {
    Talk talk;
    const QueueName queue = talk.make_queue("w", QueueType::classic);
    (void)talk.subscribe(work, queue);
    model::Properties all = all_properties("");
    const std::string headers = every_header_type();
    all.headers = headers;
    all.user_id = "guest";
    all.expiration = "600000";
    model::Properties empty_headers;
    empty_headers.headers = "";
    for (const model::Properties& properties : {all, empty_headers, model::Properties{}}) {
        const std::string bytes = model::write_properties(properties);
        talk.stage().put(queue, message("put", bytes));
        const auto arrived = talk.hear<ports::Delivered>();
        CHECK((arrived.message->properties == bytes));
        talk.hear_confirm(talk.publish(queue, message("copied", bytes)));
        const auto copied = talk.hear<ports::Delivered>();
        CHECK((copied.message->properties == bytes));
    }
}

TEST_CASE("a table nested to the depth that one frame allows is delivered and copied") {
    Talk talk;
    const QueueName queue = talk.make_queue("w", QueueType::classic);
    (void)talk.subscribe(work, queue);
    std::string nested;
    for (int level = 0; level < 300; ++level) {
        model::TableWriter table;
        table.add_table("t", nested);
        nested = table.bytes();
    }
    model::Properties properties;
    properties.headers = nested;
    const std::string bytes = model::write_properties(properties);
    talk.hear_confirm(talk.publish(queue, message("deep", bytes)));
    CHECK((talk.hear<ports::Delivered>().message->properties == bytes));
}
