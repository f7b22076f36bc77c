// The operator's tool: asks the daemon over its admin socket.

#include "app/retryctl_ask.hpp"
#include "app/retryctl_options.hpp"

#include <iostream>
#include <string>
#include <vector>

namespace {

using namespace retryd;

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
    return options.command == app::Command::drain ? app::drain(*address, options) : app::show_status(*address, options);
}

}  // namespace

int main(int count, char** words) {
    const auto options = app::read_retryctl_options({words + 1, words + count});
    return options ? run(*options) : app::complain(options.error(), app::exit_usage);
}
