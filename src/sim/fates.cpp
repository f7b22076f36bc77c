#include "sim/fates.hpp"

#include <utility>

namespace retryd::sim {

Answer answer(std::uint16_t status) {
    Answer made;
    made.reply.status = status;
    return made;
}

Answer breaks_off() {
    Answer made;
    made.reply.kind = model::Reply::Kind::lost;
    made.reply.error_message = "the connection broke";
    return made;
}

Fate always(Answer answer) {
    return [answer = std::move(answer)](std::uint32_t, std::uint32_t) { return answer; };
}

Fate then_succeeds(std::uint32_t calls, Answer first) {
    return [calls, first = std::move(first)](std::uint32_t, std::uint32_t call) { return call <= calls ? first : answer(200); };
}

Fate succeeds() {
    return always(answer(200));
}

Fate fails_then_succeeds(std::uint32_t times) {
    return then_succeeds(times, answer(500));
}

Fate always_fails() {
    return always(answer(500));
}

Fate is_permanent() {
    return always(answer(422));
}

Fate throttled_then_succeeds(std::uint32_t times, model::Milliseconds retry_after) {
    auto first = answer(429);
    first.reply.retry_after = model::RetryAfter{retry_after, {}};
    return then_succeeds(times, std::move(first));
}

Fate never_answers_then_succeeds(std::uint32_t times) {
    auto first = answer(200);
    first.after.reset();
    return then_succeeds(times, std::move(first));
}

Fate breaks_then_succeeds(std::uint32_t times) {
    return then_succeeds(times, breaks_off());
}

}  // namespace retryd::sim
