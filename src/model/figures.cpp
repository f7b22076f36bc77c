#include "model/figures.hpp"

#include <algorithm>
#include <cstdlib>

namespace retryd::model {

std::string_view to_text(Cause cause) {
    switch (cause) {
        case Cause::consumer_away: return "consumer-away";
        case Cause::consumer_misconfigured: return "consumer-misconfigured";
        case Cause::consumer_not_ready: return "consumer-not-ready";
        case Cause::broker_down: return "broker-down";
        case Cause::publish_blocked: return "publish-blocked";
        case Cause::draining: return "draining";
        case Cause::unroutable: return "unroutable";
        case Cause::queue_missing: return "queue-missing";
        case Cause::memory: return "memory";
        case Cause::subscription_lost: return "subscription-lost";
        case Cause::ack_timeout: return "ack-timeout";
        case Cause::confirm_late: return "confirm-late";
        case Cause::broker_dead_letter_wait: return "broker-dead-letter-wait";
        case Cause::link_stuck: return "link-stuck";
        case Cause::paused: return "paused";
        case Cause::breaker_open: return "breaker-open";
        case Cause::budget_spent: return "budget-spent";
        case Cause::storm_damped: return "storm-damped";
        case Cause::rate: return "rate";
    }
    std::abort();  // a value outside the enum: memory is broken
}

void Histogram::observe(double value) {
    const auto bound = std::lower_bound(bounds_.begin(), bounds_.end(), value);  // an upper bound includes its value
    ++counts_[static_cast<std::size_t>(bound - bounds_.begin())];
    sum_ += value;
}

}  // namespace retryd::model
