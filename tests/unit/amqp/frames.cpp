#include "amqp/frames.hpp"

#include "amqp/decode.hpp"
#include "amqp/library.hpp"

#include <catch2/catch.hpp>

#include <memory>
#include <string>
#include <vector>

using namespace retryd::amqp;

namespace {

// The library's own reading of bytes, a frame at a time.
class Library {
public:
    Library() {
        amqp_frame_t ignored;
        (void)amqp_handle_input(state_.get(), lend({"AMQP\0\0\x09\x01", 8}), &ignored);
    }
    // The frame at the front of `bytes`, which it is taken from.
    amqp_frame_t next(std::string_view& bytes) {
        amqp_frame_t frame{};
        while (frame.frame_type == 0) {
            const int taken = amqp_handle_input(state_.get(), lend(bytes), &frame);
            REQUIRE(taken > 0);
            bytes.remove_prefix(static_cast<std::size_t>(taken));
        }
        return frame;
    }

private:
    struct Destroy {
        void operator()(amqp_connection_state_t state) const { amqp_destroy_connection(state); }
    };
    std::unique_ptr<amqp_connection_state_t_, Destroy> state_{amqp_new_connection()};
};

// A persistent message with a message-id.
const std::string properties{
    "\x10\x80\x02\x03"
    "m-1",
    7};

}  // namespace

TEST_CASE("the library reads an ack as it was meant") {
    for (const Ack ack : {Ack{1, false}, Ack{0x0102030405060708, true}}) {
        std::string bytes;
        append_ack(bytes, 0x0203, ack);
        std::string_view rest = bytes;
        Library library;
        const auto frame = library.next(rest);
        REQUIRE(frame.frame_type == AMQP_FRAME_METHOD);
        CHECK(frame.channel == 0x0203);
        REQUIRE(frame.payload.method.id == AMQP_BASIC_ACK_METHOD);
        const auto& read = *static_cast<const amqp_basic_ack_t*>(frame.payload.method.decoded);
        CHECK(read.delivery_tag == ack.tag);
        CHECK((read.multiple != 0) == ack.multiple);
        CHECK(rest.empty());
    }
}

TEST_CASE("the library reads a publish as it was meant, and nothing is left over") {
    const std::string body(3000, 'b');
    const std::string queue(255, 'q');
    std::string bytes;
    append_publish(bytes, 1, queue, properties, body.size());
    append_body(bytes, 1, std::string_view(body).substr(0, 2000));
    append_body(bytes, 1, std::string_view(body).substr(2000));
    std::string_view rest = bytes;
    Library library;

    const auto method = library.next(rest);
    REQUIRE(method.payload.method.id == AMQP_BASIC_PUBLISH_METHOD);
    const auto& publish = *static_cast<const amqp_basic_publish_t*>(method.payload.method.decoded);
    CHECK(view(publish.exchange).empty());
    CHECK(view(publish.routing_key) == queue);
    CHECK(publish.mandatory != 0);
    CHECK(publish.immediate == 0);

    const auto header = library.next(rest);
    REQUIRE(header.frame_type == AMQP_FRAME_HEADER);
    CHECK(header.payload.properties.class_id == AMQP_BASIC_CLASS);
    CHECK(header.payload.properties.body_size == body.size());
    CHECK(view(header.payload.properties.raw) == properties);
    const auto& read = *static_cast<const amqp_basic_properties_t*>(header.payload.properties.decoded);
    CHECK(view(read.message_id) == "m-1");
    CHECK(read.delivery_mode == AMQP_DELIVERY_PERSISTENT);

    CHECK(view(library.next(rest).payload.body_fragment) == body.substr(0, 2000));
    CHECK(view(library.next(rest).payload.body_fragment) == body.substr(2000));
    CHECK(rest.empty());
}

TEST_CASE("many publishes lie behind each other in one buffer") {
    std::string bytes;
    for (ChannelNumber channel = 1; channel <= 3; ++channel) append_publish(bytes, channel, "q", properties, 0);
    std::string_view rest = bytes;
    Library library;
    for (ChannelNumber channel = 1; channel <= 3; ++channel) {
        CHECK(library.next(rest).channel == channel);
        CHECK(library.next(rest).frame_type == AMQP_FRAME_HEADER);
    }
    CHECK(rest.empty());
}
