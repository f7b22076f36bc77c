#pragma once
// What a consumer makes of a message: an answer for each time it is handed over.
//
//   world.publish("orders", fails_then_succeeds(2));

#include "model/outcome.hpp"
#include "model/time.hpp"

#include <cstdint>
#include <functional>
#include <optional>

namespace retryd::sim {

using namespace std::chrono_literals;

struct Answer {
    model::Reply reply;
    std::optional<model::Microseconds> after = 5ms;  // nothing: never
};

// `attempt` as the consumer was told, `call` counted by the consumer itself; both from 1.
using Fate = std::function<Answer(std::uint32_t attempt, std::uint32_t call)>;

[[nodiscard]] Answer answer(std::uint16_t status);
[[nodiscard]] Answer breaks_off();  // lost

[[nodiscard]] Fate always(Answer answer);
// `first` for so many calls, then success.
[[nodiscard]] Fate then_succeeds(std::uint32_t calls, Answer first);

[[nodiscard]] Fate succeeds();
[[nodiscard]] Fate fails_then_succeeds(std::uint32_t times);
[[nodiscard]] Fate always_fails();
[[nodiscard]] Fate is_permanent();
[[nodiscard]] Fate throttled_then_succeeds(std::uint32_t times, model::Milliseconds retry_after);
[[nodiscard]] Fate never_answers_then_succeeds(std::uint32_t times);
[[nodiscard]] Fate breaks_then_succeeds(std::uint32_t times);

}  // namespace retryd::sim
