#include "core/concurrency.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace retryd::core {

namespace {

constexpr std::chrono::milliseconds shortest_round{500};
constexpr std::uint32_t least_deliveries = 10;

constexpr double flat = 1.2;     // of the best latency: no reason not to grow
constexpr double high = 1.5;     // … a reason to shrink
constexpr double noise = 0.001;  // seconds: a difference of less says nothing
constexpr double shrink_a_little = 5.0 / 6;
constexpr double shrink_much = 2.0 / 3;
constexpr std::uint32_t best_is_valid_for = 60;  // rounds

}  // namespace

std::optional<LoadRound> LoadSensor::ended(std::optional<model::Microseconds> took, bool pushed_back, bool saturated,
                                           model::SteadyTime now) {
    if (!begun_) begun_ = now;
    ++all_;
    if (took) {
        ++successes_;
        round_.seconds += std::chrono::duration<double>(*took).count();
    }
    round_.pushed_back |= pushed_back;
    round_.saturated |= saturated;
    if (all_ < least_deliveries || now - *begun_ < shortest_round) return std::nullopt;
    auto done = std::exchange(round_, {});
    if (successes_ > 0) done.seconds /= successes_;
    begun_ = now;
    all_ = successes_ = 0;
    return done;
}

void ConcurrencyController::update(const LoadRound& round) {
    if (round.pushed_back) return shrink_to(shrink_much);
    if (round.seconds <= 0) return;
    if (measuring_) {
        best_ = round.seconds;
        limit_ = *std::exchange(measuring_, std::nullopt);
        rounds_ = 0;
        return;
    }
    best_ = best_ > 0 ? std::min(best_, round.seconds) : round.seconds;
    if (++rounds_ >= best_is_valid_for) {
        measuring_ = limit_;
        limit_ = std::max(limit_ / 2, limits_.min);
    } else if (round.seconds > best_ * high + noise) {
        shrink_to(shrink_a_little);
    } else if (round.saturated && round.seconds <= best_ * flat + noise) {
        limit_ = std::min(doubling_ ? 2 * limit_ : limit_ + 1, limits_.max);
    }
}

void ConcurrencyController::shrink_to(double share) {
    doubling_ = false;
    measuring_.reset();
    limit_ = std::max(static_cast<std::uint32_t>(limit_ * share), limits_.min);
}

}  // namespace retryd::core
