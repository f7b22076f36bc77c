// The daemon, and the offline tools on a policy file.

#include "app/check.hpp"
#include "app/run.hpp"

#include <iostream>
#include <string_view>
#include <vector>

namespace {

constexpr int exit_usage = 2;

constexpr std::string_view usage = R"(usage: retryd COMMAND

Commands:
  run --config FILE [--wait 30s] [--drain 10s]
        stand between the queues of the policy and their consumers, until SIGTERM
        --wait   give up when the broker can't be reached for so long at the start (default: never)
        --drain  how long deliveries may take to finish after SIGTERM (default: the longest timeout + 2 s)
  check FILE [--print-effective QUEUE]
        read a policy file, say everything that is wrong with it, or show every value in force and where it comes from
  version

Exit codes: 0 stopped cleanly, 1 policy error, 2 wrong usage, 3 no broker within --wait, 4 refused by the broker with --wait
)";

}  // namespace

int main(int argc, char** argv) {
    const std::vector<std::string_view> words(argv + 1, argv + argc);
    const auto command = words.empty() ? std::string_view{} : words.front();
    const std::span<const std::string_view> rest(words.begin() + (words.empty() ? 0 : 1), words.end());
    if (command == "run") return retryd::app::run(rest, std::cerr);
    if (command == "check") return retryd::app::check(rest, std::cout, std::cerr);
    if (command == "version" || command == "--version") {
        std::cout << "retryd " RETRYD_VERSION "\n";
        return 0;
    }
    if (command == "help" || command == "--help" || command == "-h") {
        std::cout << usage;
        return 0;
    }
    std::cerr << (command.empty() ? "retryd: a command is missing\n" : "retryd: unknown command " + std::string(command) + "\n")
              << usage;
    return exit_usage;
}
