#include "engine/hand.hpp"

#include <catch2/catch.hpp>

using namespace retryd;
using engine::Hand;
using engine::Held;

namespace {

Held message(std::uint64_t key, std::size_t body) {
    Held held;
    held.key = {key};
    held.message = std::make_shared<const model::Message>(model::Message{"", std::string(body, 'x')});
    return held;
}

}  // namespace

TEST_CASE("the hand knows its bytes") {
    Hand hand;
    hand.add(message(1, 100));
    hand.add(message(2, 1000));
    CHECK(hand.bytes() == 1100);
    hand.remove(*hand.find({1}));
    CHECK(hand.bytes() == 1000);
    CHECK(hand.find({1}) == nullptr);
    CHECK(hand.find({2})->message->body.size() == 1000);
}
