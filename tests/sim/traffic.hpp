#pragma once
// Messages that come evenly, while time passes.

#include "sim/world.hpp"

#include <string>
#include <utility>

namespace retryd::sim {

class Traffic {
public:
    Traffic(World& world, std::string queue, std::uint32_t per_second)
        : world_(world), queue_(std::move(queue)), per_second_(per_second) {}

    void set_rate(std::uint32_t per_second) { per_second_ = per_second; }
    // `extra` is asked for each message.
    void run_for(model::Microseconds span, const Fate& fate, const std::function<Extra(std::uint64_t)>& extra = {}) {
        const auto end = world_.time().now().steady + span;
        while (world_.time().now().steady < end) {
            world_.publish(queue_, fate, extra ? extra(count_) : Extra{});
            ++count_;
            world_.run_for(model::Microseconds{1'000'000 / per_second_});
        }
    }

private:
    World& world_;
    std::string queue_;
    std::uint32_t per_second_;
    std::uint64_t count_ = 0;
};

}  // namespace retryd::sim
