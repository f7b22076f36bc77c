// The operator's tool: asks the daemon over its admin socket.

#include "admin/address.hpp"
#include "admin/client.hpp"
#include "admin/status_json.hpp"
#include "admin/status_text.hpp"

#include <chrono>
#include <iostream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace retryd;

constexpr int exit_fine = 0;
constexpr int exit_unreachable = 1;
constexpr int exit_usage = 2;
constexpr std::chrono::seconds patience{5};

constexpr std::string_view usage = R"(usage: retryctl [--admin ADDR] [--json] COMMAND

Commands:
  status        what each queue does, what waits where, and what holds it up

Options, before or after the command:
  --admin ADDR  the daemon's admin socket: unix:PATH or a path. Without it the first of these that exists:
                $RUNTIME_DIRECTORY/admin.sock, /run/retryd/admin.sock, $XDG_RUNTIME_DIR/retryd/admin.sock
  --json        the answer as JSON
  --help        this text
  --version     the version of retryctl

Exit codes: 0 answered, 1 retryd cannot be reached, 2 wrong usage
)";

struct CommandLine {
    std::optional<std::string> admin;
    std::string command;
    bool json = false;
    bool help = false;
    bool version = false;
};

model::Problem misuse(std::string what) {
    return {model::ProblemCode::bad_value, "", std::move(what), "see retryctl --help"};
}

model::Result<CommandLine> read_command_line(const std::vector<std::string>& words) {
    constexpr std::string_view admin_is = "--admin=";
    CommandLine line;
    for (std::size_t i = 0; i < words.size(); ++i) {
        const std::string& word = words[i];
        if (word == "--json") {
            line.json = true;
        } else if (word == "--help" || word == "-h") {
            line.help = true;
        } else if (word == "--version") {
            line.version = true;
        } else if (word == "--admin") {
            if (i + 1 == words.size()) return misuse("--admin needs an address");
            line.admin = words[++i];
        } else if (word.compare(0, admin_is.size(), admin_is) == 0) {
            line.admin = word.substr(admin_is.size());
        } else if (!word.empty() && word.front() == '-') {
            return misuse("unknown option " + word);
        } else if (line.command.empty()) {
            line.command = word;
        } else {
            return misuse("one command at a time: " + line.command + " or " + word);
        }
    }
    return line;
}

int complain(const model::Problem& problem, int code) {
    std::cerr << "retryctl: " << model::to_text(problem) << '\n';
    return code;
}

int complain_unreachable(model::Problem problem) {
    problem.what = "cannot reach retryd: " + problem.what;
    if (problem.hint.empty()) {
        problem.hint = problem.code == model::ProblemCode::refused
                           ? "run retryctl as root or as a member of the socket's group"
                           : "look whether retryd runs, and say where its admin socket is with --admin unix:PATH";
    }
    return complain(problem, exit_unreachable);
}

int show_status(const std::string& socket, bool as_json) {
    const auto answer = admin::get(socket, "/status", patience);
    if (!answer) return complain_unreachable(answer.error());
    if (answer->status != 200) {
        return complain_unreachable({model::ProblemCode::unavailable, "unix:" + socket,
                                     "it answered " + std::to_string(answer->status) + " to /status",
                                     "look whether this is retryd's admin socket"});
    }
    if (as_json) {
        std::cout << answer->body;
        return exit_fine;
    }
    const auto status = admin::status_from_json(answer->body);
    if (!status) return complain(status.error(), exit_unreachable);
    std::cout << admin::to_text(*status);
    return exit_fine;
}

int run(const CommandLine& line) {
    if (line.help) {
        std::cout << usage;
        return exit_fine;
    }
    if (line.version) {
        std::cout << "retryctl " RETRYD_VERSION "\n";
        return exit_fine;
    }
    if (line.command.empty()) return complain(misuse("no command"), exit_usage);
    if (line.command != "status") return complain(misuse("unknown command " + line.command), exit_usage);
    if (!line.admin) return show_status(admin::socket_to_ask(admin::runtime_places()), line.json);
    const auto socket = admin::parse_admin_address(*line.admin);
    return socket ? show_status(*socket, line.json) : complain(socket.error(), exit_usage);
}

}  // namespace

int main(int count, char** words) {
    const auto line = read_command_line({words + 1, words + count});
    return line ? run(*line) : complain(line.error(), exit_usage);
}
