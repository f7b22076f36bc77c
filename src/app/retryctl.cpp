// The operator's tool: asks the daemon over its admin socket.

#include "app/retryctl_ask.hpp"
#include "app/retryctl_options.hpp"

#include <iostream>
#include <string>
#include <vector>

namespace {

using namespace retryd;

int ask(const admin::AdminAddress& address, const app::RetryctlOptions& options) {
    switch (options.command) {
        case app::Command::status: return app::show_status(address, options);
        case app::Command::why_not: return app::why_not(address, options);
        case app::Command::why: return app::why(address, options);
        case app::Command::top: return app::top(address, options);
        case app::Command::drain: return app::drain(address, options);
        case app::Command::breakers: return app::show_breakers(address, options);
        case app::Command::breaker: return app::order_breaker(address, options);
        case app::Command::pause: return app::order_queue(address, options, "pause");
        case app::Command::resume: return app::order_queue(address, options, "resume");
        case app::Command::throttle: return app::order_queue(address, options, "throttle");
        case app::Command::help:
        case app::Command::version: break;
    }
    return app::exit_usage;
}

int run(const app::RetryctlOptions& options) {
    if (options.command == app::Command::help) {
        std::cout << app::retryctl_usage;
        return app::exit_fine;
    }
    if (options.command == app::Command::version) {
        std::cout << "retryctl " RETRYD_VERSION "\n";
        return app::exit_fine;
    }
    const auto address = app::admin_address(options);
    if (!address) return app::complain(address.error(), app::exit_usage);
    return ask(*address, options);
}

}  // namespace

int main(int count, char** words) {
    const auto options = app::read_retryctl_options({words + 1, words + count});
    return options ? run(*options) : app::complain(options.error(), app::exit_usage);
}
