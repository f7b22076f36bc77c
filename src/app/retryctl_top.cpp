#include "admin/status_json.hpp"
#include "admin/top_text.hpp"
#include "app/retryctl_ask.hpp"

#include <unistd.h>

#include <chrono>
#include <iostream>
#include <optional>
#include <string_view>
#include <thread>

namespace retryd::app {

namespace {

constexpr std::chrono::seconds refresh{1};
constexpr std::string_view clear_screen = "\x1b[H\x1b[2J";

}  // namespace

int top(const admin::AdminAddress& address, const RetryctlOptions& options) {
    const bool terminal = ::isatty(STDOUT_FILENO) == 1;
    std::optional<model::StatusView> before;
    for (;; std::this_thread::sleep_for(refresh)) {
        const auto answer = ask_status(address);
        if (!answer) return complain(answer.error(), exit_failed);
        const auto now = admin::status_from_json(answer->body);
        if (!now) return complain(now.error(), exit_failed);
        if (options.json) {
            std::cout << answer->body;
        } else if (terminal) {
            std::cout << clear_screen << admin::top_table(before.value_or(*now), *now);
        } else if (before) {
            std::cout << admin::top_lines(*before, *now);
        }
        if (!std::cout.flush()) return exit_fine;  // nobody reads any more
        before = *now;
    }
}

}  // namespace retryd::app
