#pragma once
// Plain counters that core and engine keep; metrics/, `status` and the simulation read a snapshot on the main loop.

#include "model/outcome.hpp"
#include "model/time.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace retryd::model {

// Why a queue does not flow, or flows less than it could. The names are labels of retryd_stall and causes of /flowz.
enum class Cause : std::uint8_t {
    consumer_away,
    consumer_misconfigured,
    consumer_not_ready,
    broker_down,
    publish_blocked,
    draining,
    unroutable,
    queue_missing,
    memory,
    subscription_lost,
    ack_timeout,
    confirm_late,
    broker_dead_letter_wait,
    link_stuck,
    paused,
    breaker_open,
    budget_spent,
    storm_damped,
    rate,
};
inline constexpr std::size_t cause_count = 19;
[[nodiscard]] std::string_view to_text(Cause cause);  // "consumer-away"

// A histogram in the way Prometheus wants it: counts for each upper bound, and the sum.
class Histogram {
public:
    explicit Histogram(std::vector<double> bounds) : bounds_(std::move(bounds)), counts_(bounds_.size() + 1) {}
    void observe(double value);
    [[nodiscard]] const std::vector<double>& bounds() const { return bounds_; }         // rising; +Inf follows
    [[nodiscard]] const std::vector<std::uint64_t>& counts() const { return counts_; }  // not cumulative, one more than bounds
    [[nodiscard]] double sum() const { return sum_; }

private:
    std::vector<double> bounds_;
    std::vector<std::uint64_t> counts_;
    double sum_ = 0;
};

struct TierFigures {
    std::string tier;  // "1", "2" … the rung, or "hold"
    std::uint64_t scheduled = 0;
};

struct QueueFigures {
    std::string queue;
    std::uint64_t first_deliveries = 0;                     // messages handed to a consumer for the first time
    std::array<std::uint64_t, outcome_count> deliveries{};  // by outcome, one for each answer
    std::array<std::uint64_t, reason_count> parked{};       // confirmed copies in a lot, by reason
    std::vector<TierFigures> scheduled;                     // confirmed copies in a tier
    std::uint64_t redeliveries = 0;                         // deliveries with the redelivered flag
    std::uint64_t without_id = 0;                           // messages that had no message-id
    Histogram delivery_seconds{{0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60}};
    Histogram lateness_seconds{{0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 30}};  // after its time, back in hand
};

struct Figures {
    std::vector<QueueFigures> queues;  // by QueueId
    Histogram confirm_seconds{{0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 30}};
};

}  // namespace retryd::model
