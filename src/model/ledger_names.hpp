#pragma once
// The headers of the record, for those who read and write it. `retryd-original` is in model/original.hpp.

#include "model/time.hpp"

#include <cstddef>
#include <string_view>

namespace retryd::model::names {

inline constexpr std::string_view version = "retryd-v";
inline constexpr std::string_view id = "retryd-id";
inline constexpr std::string_view queue = "retryd-queue";
inline constexpr std::string_view attempts = "retryd-attempts";
inline constexpr std::string_view retries = "retryd-retries";
inline constexpr std::string_view lost = "retryd-lost";
inline constexpr std::string_view suspect = "retryd-suspect";
inline constexpr std::string_view first_failed = "retryd-first-failed-ms";
inline constexpr std::string_view last_failed = "retryd-last-failed-ms";
inline constexpr std::string_view not_before = "retryd-not-before-ms";
inline constexpr std::string_view held = "retryd-held-ms";
inline constexpr std::string_view exchange = "retryd-exchange";
inline constexpr std::string_view routing_key = "retryd-routing-key";
inline constexpr std::string_view reason = "retryd-reason";
inline constexpr std::string_view error_type = "retryd-error-type";
inline constexpr std::string_view error_message = "retryd-error-message";
inline constexpr std::string_view dependency = "retryd-dependency";
inline constexpr std::string_view app_version = "retryd-app-version";
inline constexpr std::string_view fingerprint = "retryd-fingerprint";
inline constexpr std::string_view history = "retryd-history";

// The entries of a table in retryd-history.
inline constexpr std::string_view entry_at = "at-ms";
inline constexpr std::string_view entry_outcome = "outcome";
inline constexpr std::string_view entry_type = "type";
inline constexpr std::string_view entry_fingerprint = "fingerprint";
inline constexpr std::string_view entry_delay = "delay-ms";
inline constexpr std::string_view entry_host = "host";

inline constexpr std::size_t longest_name = 255;  // bytes of an id, an exchange, a routing key: AMQP's short strings
inline constexpr std::size_t longest_word = 128;  // bytes of an error type, a dependency, a version

}  // namespace retryd::model::names
