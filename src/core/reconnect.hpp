#pragma once
// When a link may be tried again, and at which address: exponential backoff with full jitter from 100 ms to 5 s, without
// an end; 5 s to 30 s after the broker itself refused. The backoff starts anew only after ten seconds of health, so that
// a broker that accepts and drops does not see us at speed.

#include "model/time.hpp"

#include <cstddef>
#include <cstdint>

namespace retryd::core {

class Reconnect {
public:
    Reconnect(std::size_t addresses, model::SteadyTime now) : addresses_(addresses), since_(now), next_(now) {}

    // Facts.
    void up(model::SteadyTime now);
    void down(bool refused, model::SteadyTime now, std::uint64_t random);  // also: could not connect

    // True once when it is time: connect now, to address().
    [[nodiscard]] bool timer_due(model::SteadyTime now);
    [[nodiscard]] model::SteadyTime next() const;  // SteadyTime::max() while connecting or up
    [[nodiscard]] std::size_t address() const { return address_; }
    [[nodiscard]] bool is_up() const { return state_ == State::up; }
    [[nodiscard]] model::SteadyTime since() const { return since_; }  // of being up, or of not being up

private:
    friend struct Portrait;  // tests/sim/portrait
    enum class State : std::uint8_t { waiting, connecting, up };
    State state_ = State::waiting;
    std::size_t addresses_;
    std::size_t address_ = 0;
    std::uint32_t failures_ = 0;
    model::SteadyTime since_;
    model::SteadyTime next_;
};

}  // namespace retryd::core
