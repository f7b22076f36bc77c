#include "app/run.hpp"

#include "app/daemon.hpp"
#include "app/spare_memory.hpp"
#include "policyfile/policyfile.hpp"
#include "policyfile/scalars.hpp"

#include <sys/resource.h>

#include <memory>
#include <string>

namespace retryd::app {

namespace {

constexpr int exit_policy = 1;
constexpr int exit_usage = 2;

struct CommandLine {
    std::string config;
    RunOptions options;
};

model::Problem misuse(std::string what) {
    return {model::ProblemCode::bad_value, "retryd run", std::move(what), "see retryd --help"};
}

model::Result<CommandLine> read_command_line(std::span<const std::string_view> args) {
    CommandLine line;
    for (std::size_t i = 0; i < args.size(); i += 2) {
        const auto option = args[i];
        if (option != "--config" && option != "--wait" && option != "--drain") {
            return misuse("unknown argument " + std::string(option));
        }
        if (i + 1 == args.size()) return misuse(std::string(option) + " needs a value");
        const auto value = args[i + 1];
        if (option == "--config") {
            line.config = value;
            continue;
        }
        const auto span = policyfile::parse_duration(value);
        if (!span) return misuse(std::string(option) + ": " + model::to_text(span.error()));
        (option == "--wait" ? line.options.wait : line.options.drain) = *span;
    }
    if (line.config.empty()) return misuse("--config FILE is missing");
    return line;
}

// Each session of a stream has its descriptor: the usual soft limit of 1024 is soon too few.
void raise_descriptor_limit() {
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= limit.rlim_max) return;
    limit.rlim_cur = limit.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &limit);  // where that fails the limit stays
}

}  // namespace

int run(std::span<const std::string_view> args, std::ostream& err) {
    const auto line = read_command_line(args);
    if (!line) {
        err << model::to_text(line.error()) << '\n';
        return exit_usage;
    }
    auto loaded = policyfile::load_file(line->config, policyfile::Environment::of_process());
    for (const auto& problem : loaded.problems) err << model::to_text(problem) << '\n';
    if (!loaded.policy) return exit_policy;
    raise_descriptor_limit();
    give_large_bodies_back_at_once();
    Daemon daemon(std::make_shared<const model::Policy>(std::move(*loaded.policy)), line->options);
    return daemon.run();
}

}  // namespace retryd::app
