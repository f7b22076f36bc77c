#pragma once
// core::Copies on a bench: time and answers by hand.

#include "core/copies.hpp"

#include <catch2/catch.hpp>

#include <cstdint>

namespace retryd::bench {

using namespace std::chrono_literals;
using core::Copies;
using core::CopyActions;
using model::DeliveryKey;
using model::SteadyTime;

constexpr SteadyTime start{1h};
inline const auto lot = model::plain_queue({"lot"}, model::QueueType::quorum);

struct Bench {
    Copies copies{30s};
    CopyActions actions;
    SteadyTime now = start;

    Bench() { copies.link_up(); }
    const CopyActions& advance() {
        actions.clear();
        copies.advance(now, actions);
        return actions;
    }
    void add(std::uint64_t key, std::uint64_t size = 1000) { copies.add({key}, lot, {size}); }
    // Declared and published; the number.
    std::uint64_t publish(std::uint64_t key, std::uint64_t size = 1000) {
        add(key, size);
        advance();
        if (!actions.declare.empty()) {
            copies.declared(lot.name, true, now);
            advance();
        }
        REQUIRE(actions.publish.size() == 1);
        return actions.publish[0].number;
    }
};

}  // namespace retryd::bench
