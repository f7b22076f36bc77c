#pragma once
// How often each of a few kinds of thing happened within the last span of time. Counted in tenths of the span: what is older
// than the span is never among the counts, what is younger than nine tenths of it always. Nothing is allocated.

#include "model/time.hpp"

#include <algorithm>
#include <array>
#include <chrono>
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
    // How often a second, in the mean of the tenths that are over and before which it happened, too: neither how busy it has
    // just begun to be nor an idle time tells what is usual. 0: there are none.
    [[nodiscard]] double usual_rate(std::size_t kind, model::SteadyTime now) const {
        std::uint32_t sum = 0, whole = 0;
        for (auto one = number(now) - slices + 1; one < number(now); ++one) {
            const auto before = count_in(one - 1, kind), count = count_in(one, kind);
            if (before == 0 || count == 0) continue;
            sum += count;
            ++whole;
        }
        return whole == 0 ? 0 : sum / (whole * std::chrono::duration<double>(width_).count());
    }

private:
    static constexpr std::int64_t slices = 10;
    struct Slice {
        std::int64_t number = -slices;
        Counts counts{};
    };
    [[nodiscard]] std::int64_t number(model::SteadyTime now) const { return now.time_since_epoch() / width_; }
    [[nodiscard]] std::uint32_t count_in(std::int64_t wanted, std::size_t kind) const {
        const auto& slice = slices_[static_cast<std::size_t>((wanted + slices) % slices)];
        return slice.number == wanted ? slice.counts[kind] : 0;
    }
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
