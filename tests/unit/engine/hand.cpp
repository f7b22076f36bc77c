#include "engine/hand.hpp"

#include <catch2/catch.hpp>

using namespace retryd;
using engine::Hand;
using engine::Held;

namespace {

Held message(std::uint64_t key, std::size_t body, std::size_t properties = 0) {
    Held held;
    held.key = {key};
    held.message = std::make_shared<const model::Message>(model::Message{std::string(properties, 'p'), std::string(body, 'x')});
    return held;
}

}  // namespace

TEST_CASE("the hand knows its bytes") {
    Hand hand;
    hand.add(message(1, 100));
    hand.add(message(2, 1000));
    CHECK(hand.bytes() == 1100 + 2 * engine::overhead_of_one);
    hand.remove(*hand.find({1}));
    CHECK(hand.bytes() == 1000 + engine::overhead_of_one);
    CHECK(hand.find({1}) == nullptr);
    CHECK(hand.find({2})->message->body.size() == 1000);
}

TEST_CASE("headers count as often as they are kept, and even an empty message counts") {
    Hand hand;
    hand.add(message(1, 0, 128 * 1024));
    CHECK(hand.bytes() >= 4U * 128 * 1024);
    hand.remove(*hand.find({1}));
    CHECK(hand.bytes() == 0);
    for (std::uint64_t key = 1; key <= 1000; ++key) hand.add(message(key, 0));
    CHECK(hand.bytes() == 1000 * engine::overhead_of_one);
}
