#pragma once
// retryctl's commands: each asks the daemon, prints what it says, and returns the exit code.

#include "admin/client.hpp"
#include "app/retryctl_options.hpp"
#include "model/problem.hpp"

#include <string_view>

namespace retryd::app {

inline constexpr int exit_fine = 0;
inline constexpr int exit_failed = 1;
inline constexpr int exit_usage = 2;

int complain(const model::Problem& problem, int exit_code);

// The answer to /status, or a problem that says what to do about it.
[[nodiscard]] model::Result<admin::Answer> ask_status(const admin::AdminAddress& address);

int show_status(const admin::AdminAddress& address, const RetryctlOptions& options);
int why_not(const admin::AdminAddress& address, const RetryctlOptions& options);
int why(const admin::AdminAddress& address, const RetryctlOptions& options);
int show_breakers(const admin::AdminAddress& address, const RetryctlOptions& options);
int order_breaker(const admin::AdminAddress& address, const RetryctlOptions& options);
// `act`: pause, resume or throttle.
int order_queue(const admin::AdminAddress& address, const RetryctlOptions& options, std::string_view act);
int drain(const admin::AdminAddress& address, const RetryctlOptions& options);
// Until it is interrupted, or retryd cannot be reached any more.
int top(const admin::AdminAddress& address, const RetryctlOptions& options);

}  // namespace retryd::app
