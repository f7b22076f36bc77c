#pragma once
// Whether a link still does its work: its thread shows signs of life, and the broker answers what it is asked on it.
//
// Fed once a second; it counts seconds in which it was fed, not time: a process that was stopped for a minute has missed
// one sign of life, not sixty. What is noticed is named first and acted upon later, since a slow broker is not a dead one.
// While large messages pass a slow network, an answer waits behind them: such a second counts a tenth.

#include "model/time.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>

namespace retryd::core {

class LinkWatch {
public:
    // `answers_within`: after this without an answer the link is renewed; after a third of it the silence is named.
    // `connects_within`: what connecting and logging in may take at most.
    LinkWatch(model::Milliseconds answers_within, model::Milliseconds connects_within);

    struct Second {
        bool connecting = false;
        bool lives = true;          // the thread did something, or its socket made progress
        bool busy = false;          // much has passed
        std::size_t pending = 0;    // questions that the broker has not answered
        std::uint64_t answers = 0;  // to questions, ever
        bool excused = false;       // no answer is due: reading is stopped, or the broker's alarm is on
    };
    // True, once for each silence: end the link now.
    [[nodiscard]] bool passed(const Second& second, model::SteadyTime now);
    void link_changed();  // up or down: nothing of before counts

    enum class Silence : std::uint8_t { none, connecting, thread, broker };
    [[nodiscard]] Silence silence() const;
    [[nodiscard]] model::SteadyTime since() const { return since_; }  // of the silence

private:
    [[nodiscard]] Silence silence_of(const Second& second) const;

    [[nodiscard]] std::uint32_t tenths_until_ended() const;
    [[nodiscard]] std::uint32_t tenths_until_named() const;

    std::uint32_t answers_within_, connects_within_;  // tenths of seconds
    std::uint64_t answers_ = 0;                       // as of the last second
    Silence kind_ = Silence::none;
    std::uint32_t tenths_ = 0;  // of seconds of that kind, in a row
    bool ended_ = false;        // the link, for this silence
    model::SteadyTime since_{};
};

}  // namespace retryd::core
