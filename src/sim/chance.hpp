#pragma once
// The one source of chance in a simulation: seeded, handed in, the same on every machine.

#include "model/time.hpp"

#include <cstdint>

namespace retryd::sim {

class Chance {
public:
    explicit Chance(std::uint64_t seed) : state_(seed) {}

    // SplitMix64: small, fast, and good enough for dice.
    std::uint64_t next() {
        std::uint64_t z = (state_ += 0x9E3779B97F4A7C15U);
        z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
        z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
        return z ^ (z >> 31U);
    }
    // 0..n-1; n is at least 1.
    std::uint64_t below(std::uint64_t n) { return next() % n; }
    bool one_in(std::uint64_t n) { return below(n) == 0; }
    // From `least` to `most`, both included.
    model::Microseconds between(model::Microseconds least, model::Microseconds most) {
        const auto width = static_cast<std::uint64_t>((most - least).count()) + 1;
        return least + model::Microseconds(static_cast<std::int64_t>(below(width)));
    }
    // An independent generator: what it is used for does not shift the dice of the others.
    Chance fork() { return Chance(next()); }

private:
    std::uint64_t state_;
};

}  // namespace retryd::sim
