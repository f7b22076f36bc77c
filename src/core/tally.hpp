#pragma once
// How often each of a few kinds of thing happened within the last span of time. Counted in tenths of the span: what is older
// than the span is never among the counts, what is younger than nine tenths of it always. Nothing is allocated.

#include "model/time.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

namespace retryd::core {

template <std::size_t kinds>
class Tally {
public:
    using Counts = std::array<std::uint32_t, kinds>;

    explicit Tally(model::Microseconds span) : width_(std::max(span / slices, model::Microseconds{1})) {}

    void add(std::size_t kind, model::SteadyTime now) { ++slice_at(now).counts[kind]; }
    void clear() { slices_ = {}; }

    [[nodiscard]] Counts counts(model::SteadyTime now) const {
        Counts sum{};
        const auto oldest = number(now) - slices;
        for (const auto& slice : slices_) {
            if (slice.number <= oldest) continue;
            for (std::size_t kind = 0; kind < kinds; ++kind) sum[kind] += slice.counts[kind];
        }
        return sum;
    }
    // From when on the counts of now are complete.
    [[nodiscard]] model::SteadyTime counted_from(model::SteadyTime now) const {
        return model::SteadyTime{width_ * (number(now) - slices + 1)};
    }

private:
    static constexpr std::int64_t slices = 10;
    struct Slice {
        std::int64_t number = -slices;
        Counts counts{};
    };
    [[nodiscard]] std::int64_t number(model::SteadyTime now) const { return now.time_since_epoch() / width_; }
    Slice& slice_at(model::SteadyTime now) {
        const auto wanted = number(now);
        auto& slice = slices_[static_cast<std::size_t>(wanted % slices)];
        if (slice.number != wanted) slice = {wanted, {}};
        return slice;
    }

    model::Microseconds width_;
    std::array<Slice, slices> slices_{};
};

}  // namespace retryd::core
