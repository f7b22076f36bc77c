#pragma once
// What an operator can order of the guards.

#include "model/guards.hpp"
#include "model/time.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace retryd::model {

struct Order {
    enum class Act : std::uint8_t {
        open,      // a breaker: nothing passes, for so long; then come probes
        close,     // everything passes, for so long; then it is closed as ever
        disable,   // everything passes and is counted, for so long
        reset,     // closed, nothing counted
        pause,     // a queue: nothing is delivered
        throttle,  // its return lane has a share of its normal rate
        resume,    // neither paused nor throttled
    };
    Act act = Act::reset;
    std::string target;                   // the breaker's or the queue's name
    std::optional<Milliseconds> lasting;  // open, close, disable; nothing: until another order
    Ratio retries{1};                     // throttle
};
inline constexpr std::array breaker_acts{Order::Act::open, Order::Act::close, Order::Act::disable, Order::Act::reset};
[[nodiscard]] std::string_view to_text(Order::Act act);  // "open"

}  // namespace retryd::model
