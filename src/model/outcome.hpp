#pragma once
// How one delivery ended, as the consumer or retryd itself puts it, and what the consumer said.

#include "model/time.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace retryd::model {

enum class Outcome : std::uint8_t {
    success,      // done
    drop,         // done, on purpose
    transient,    // may work later: spends an attempt
    permanent,    // will never work: dead letters
    throttled,    // not now: held, no attempt
    endpoint,     // the consumer itself is misconfigured or misaddressed: no attempt
    timeout,      // no reply in time; may have been processed: spends an attempt
    lost,         // the connection broke after the first byte was sent
    unavailable,  // nothing was sent: no attempt
};
inline constexpr std::size_t outcome_count = 9;

[[nodiscard]] std::string_view to_text(Outcome outcome);
// The outcomes that a consumer or a rule may state: success, drop, transient, permanent, throttled, endpoint.
// Nothing for any other text.
[[nodiscard]] std::optional<Outcome> stated_outcome(std::string_view text);

// A consumer's wish to be left alone for a while: a span or a point in time, as it was said.
struct RetryAfter {
    std::optional<Milliseconds> span;
    std::optional<WallTime> until;
};

// What came back for one delivery, before any judgement.
struct Reply {
    enum class Kind : std::uint8_t {
        answered,     // a whole reply
        lost,         // something was sent, no whole reply came
        unavailable,  // nothing was sent
    };
    Kind kind = Kind::answered;
    std::uint16_t status = 0;       // HTTP status; 0 where the transport has none
    std::optional<Outcome> stated;  // Retryd-Outcome, or the stream's outcome
    bool misstated = false;         // an outcome was stated that nobody knows
    std::optional<RetryAfter> retry_after;
    std::string error_type;  // stated, else from problem+json, else empty
    std::string error_message;
    std::string dependency;
    std::string app_version;
};

// Why a copy lies where it lies (header retryd-reason).
enum class Reason : std::uint8_t { exhausted, permanent, age, held, expired, poison };
inline constexpr std::size_t reason_count = 6;
[[nodiscard]] std::string_view to_text(Reason reason);

}  // namespace retryd::model
