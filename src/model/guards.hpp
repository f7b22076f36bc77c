#pragma once
// What keeps retries from becoming the next outage: breakers, budgets, rates, the storm guard, adaptive concurrency. Plain
// values, a part of the policy. Defaults written here are the built-in values of the policy file; off is std::nullopt.

#include "model/http_target.hpp"
#include "model/pattern.hpp"
#include "model/time.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace retryd::model {

using namespace std::chrono_literals;

// A share; in 0..1 where nothing else is said.
struct Ratio {
    double value = 0;
    auto operator<=>(const Ratio&) const = default;
};

// So many in a span of time: 10/m.
struct Frequency {
    std::uint32_t count = 0;
    Milliseconds per = 1s;
    [[nodiscard]] double per_second() const { return count * 1000.0 / static_cast<double>(per.count()); }
    bool operator==(const Frequency&) const = default;
    auto operator<=>(const Frequency& other) const { return per_second() <=> other.per_second(); }
};

struct HeaderRule {
    std::string name;
    std::vector<Pattern> any_of;
};
// What a message itself must have: all members that are not empty must match; within one, any of its patterns.
struct MessageMatch {
    std::vector<HeaderRule> header;    // the message's own headers; every one of them must match
    std::vector<Pattern> routing_key;  // the message's original routing key
    std::vector<Pattern> type;         // the message's type property
    [[nodiscard]] bool any() const { return header.empty() && routing_key.empty() && type.empty(); }
};

// The defaults are those of a queue's own breaker, which watches its consumer.
struct BreakerPolicy {
    Milliseconds window = 30s;                   // calls older than this count no more
    Ratio failure_rate{0.9};                     // of the calls within the window, from which on it opens
    std::uint32_t min_calls = 20;                // with fewer the share says nothing
    std::optional<std::uint32_t> all_fail = 10;  // so many failures in a row are enough, whatever was before
    std::optional<Milliseconds> slow_call;       // a call that takes at least this long is slow
    Ratio slow_rate{1};                          // of the calls, from which on it opens
    Milliseconds open_for = 10s;                 // until the first probes; doubled by each reopening
    Milliseconds open_max = 5min;
    std::uint32_t half_open = 3;  // probes that judge, 1..100
};

enum class BreakerState : std::uint8_t {
    closed,         // calls pass, and are counted
    open,           // none passes
    half_open,      // a few probes pass, and judge
    forced_open,    // by an operator
    forced_closed,  // by an operator
    disabled,       // by an operator: calls pass and are counted, nothing follows
};
inline constexpr std::size_t breaker_state_count = 6;
[[nodiscard]] std::string_view to_text(BreakerState state);  // "half-open"

// After a breaker closes: no more than `to` times the rate of before, measured over `of`, until the backlog is gone.
struct RecoverPolicy {
    Ratio to{1.2};  // 1..10
    Milliseconds of = 10min;
};

enum class OnOpen : std::uint8_t {
    automatic,  // pause where every message of the queue needs it, else divert
    pause,
    divert,
    fallback,  // what needs it goes to another consumer
};

struct RatePolicy {
    Frequency limit;
    std::uint32_t burst = 1;  // how many at once after a rest
};

// Something behind the consumers that may fail by itself.
struct DependencyPolicy {
    std::string name;
    BreakerPolicy breaker;
    OnOpen on_open = OnOpen::automatic;
    std::vector<HttpTarget> fallback;  // tried in turn; empty unless on_open says so
    std::optional<RatePolicy> rate;    // calls, in each process
    std::optional<RecoverPolicy> recover;
};
inline constexpr std::size_t max_dependencies = 64;  // what a message needs is one 64-bit mask

// One of them: positions in Policy::dependencies, and in its list.
struct Fallback {
    std::size_t dependency = 0;
    std::size_t position = 0;
};

// That a queue's messages, or those that match, need a dependency.
struct Need {
    std::size_t dependency = 0;  // position in Policy::dependencies
    MessageMatch when;           // any(): every message
};

// Tokens that successes earn and parking or dead-lettering spends.
struct BudgetPolicy {
    double per_success = 0.1;
    std::uint32_t burst = 100;                     // the most tokens, and how many there are at the start
    Frequency floor{10, std::chrono::minutes{1}};  // tokens that come by themselves while the queue has successes
};
struct BudgetsPolicy {
    std::optional<BudgetPolicy> park = BudgetPolicy{};
    std::optional<BudgetPolicy> dead_letter = BudgetPolicy{0.5, 1000, {100, std::chrono::minutes{1}}};
};

struct StormPolicy {
    Ratio failure_rate{0.15};  // with a growing ladder: a storm
    double growth = 3;         // how many times as many messages within `within` is growing
    Milliseconds within = 90s;
    std::uint32_t min_depth = 500;  // with fewer messages that wait for a retry there is no storm
    Ratio retry_messages{0.4};      // of all waiting messages: a storm
    Ratio damp{0.2};                // of its normal rate, which the lane has in a storm
    std::uint32_t stretch = 1;      // how many rungs longer the backoff is in a storm
    Milliseconds calm_for = 60s;    // under half of the entering values for so long: it is over
};

enum class StormState : std::uint8_t {
    calm,
    spike,  // more work than usual, few retries: scale out, nothing is damped
    watch,  // many retries
    storm,  // retries feed on themselves: the lane is damped
};
inline constexpr std::size_t storm_state_count = 4;
[[nodiscard]] std::string_view to_text(StormState state);

// How many deliveries may be at the consumer at once, where that is found out rather than given.
struct AdaptiveConcurrency {
    std::uint32_t min = 1;
    std::uint32_t max = 16;
};

}  // namespace retryd::model
