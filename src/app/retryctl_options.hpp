#pragma once
// retryctl's command line: options before or after the command, checked before anybody is asked.

#include "admin/client.hpp"
#include "model/problem.hpp"
#include "model/time.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace retryd::app {

extern const std::string_view retryctl_usage;

enum class Command : std::uint8_t {
    status,
    why_not,
    why,
    top,
    drain,
    breakers,
    breaker,
    pause,
    resume,
    throttle,
    help,
    version,
};

struct RetryctlOptions {
    Command command = Command::status;
    std::optional<std::string> admin;
    std::optional<std::string> token_file;
    std::string argument;  // why_not, pause, resume, throttle: the queue; why: the message's id; breaker: its name
    std::string act;       // breaker: open, close, disable, reset
    std::optional<model::Milliseconds> lasting;  // breaker: --for
    std::uint32_t percent = 0;                   // throttle: --retries
    bool json = false;
    model::Milliseconds wait = std::chrono::seconds{20};
};

[[nodiscard]] model::Result<RetryctlOptions> read_retryctl_options(const std::vector<std::string>& words);

// Where to ask, with the token of --token-file or $RETRYD_TOKEN_FILE.
[[nodiscard]] model::Result<admin::AdminAddress> admin_address(const RetryctlOptions& options);

}  // namespace retryd::app
