#include "core/ladder.hpp"

#include "model/tiers.hpp"

#include <algorithm>

namespace retryd::core {

using model::Milliseconds;

namespace {

Milliseconds scaled(Milliseconds span, double factor) {
    return Milliseconds{static_cast<Milliseconds::rep>(static_cast<double>(span.count()) * factor)};
}

}  // namespace

double unit_interval(std::uint64_t random) {
    return static_cast<double>(random >> 11U) * 0x1.0p-53;
}

Milliseconds rung_delay(const model::RetryPolicy& retry, std::uint32_t retries) {
    return retry.delays[std::min<std::size_t>(retries, retry.delays.size() - 1)];
}

Milliseconds pick_tier(const model::RetryPolicy& retry, Milliseconds delay, std::uint64_t random) {
    const auto tiers = model::spread_of(delay, retry);
    return tiers[static_cast<std::size_t>(unit_interval(random) * static_cast<double>(tiers.size()))];
}

Milliseconds spread_retry_after(const model::QueuePolicy& policy, Milliseconds asked, std::uint64_t random) {
    const auto cut = std::min(asked, policy.hold.max_retry_after);
    const double jitter = policy.retry.full_jitter ? 0.5 : policy.retry.jitter.value;
    return cut + scaled(cut, 2 * jitter * unit_interval(random));
}

Milliseconds hold_hop(const model::HoldPolicy& hold, Milliseconds left, Milliseconds whole) {
    const auto& rungs = hold.delays;
    const auto above = std::lower_bound(rungs.begin(), rungs.end(), left);
    if (above != rungs.end() && *above - left < std::max(whole, left) / 5) return *above;
    return above == rungs.begin() ? rungs.front() : *std::prev(above);
}

Milliseconds hold_climb(const model::HoldPolicy& hold, Milliseconds held) {
    Milliseconds sum{0};
    for (const auto rung : hold.delays) {
        sum += rung;
        if (held < sum) return rung;
    }
    return hold.delays.back();
}

Milliseconds grown(Milliseconds first, Milliseconds cap, std::uint32_t failures) {
    for (std::uint32_t i = 0; i < failures && first < cap; ++i) first *= 2;
    return std::min(first, cap);
}

Milliseconds full_jitter(Milliseconds grown, std::uint64_t random) {
    return std::max(scaled(grown, unit_interval(random)), Milliseconds{1});
}

Milliseconds half_jitter(Milliseconds grown, std::uint64_t random) {
    return grown / 2 + full_jitter(grown / 2, random);
}

}  // namespace retryd::core
