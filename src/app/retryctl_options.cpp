#include "app/retryctl_options.hpp"

#include "admin/address.hpp"
#include "policyfile/scalars.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <span>

namespace retryd::app {

const std::string_view retryctl_usage = R"(usage: retryctl [--admin ADDR] [--json] COMMAND

Commands:
  status              what each queue does, what waits where, and what holds it up
  why-not QUEUE       why a queue does not flow, or flows slower than it could, and what heals it
  why MESSAGE-ID      where a message is and why, as far as retryd knows
  top                 outcomes a second and what waits where, until Ctrl-C; each second, but
                      what lies on the broker is asked every 15 s
  drain [--wait 20s]  take nothing new, let deliveries finish, return the rest; wait until that is
                      done. retryd then stays, idle, until SIGTERM: for a preStop hook

Options, before or after the command:
  --admin ADDR        where retryd listens for its operator: unix:PATH, a path, or http://HOST:PORT.
                      Without it the first of these that exists: $RUNTIME_DIRECTORY/admin.sock,
                      /run/retryd/admin.sock, $XDG_RUNTIME_DIR/retryd/admin.sock
  --token-file FILE   holds the token for http://HOST:PORT; else $RETRYD_TOKEN_FILE names the file
  --json              the answer as JSON
  --help              this text
  --version           the version of retryctl
  --                  what follows is no option: for ids that begin with a dash

Exit codes: 0 answered, 1 retryd cannot be reached, does not know the queue, or is not drained in time,
            2 wrong usage
)";

namespace {

struct KnownCommand {
    std::string_view word;
    Command command;
    std::string_view argument = {};  // what it asks for; empty: nothing
};
constexpr std::array commands{KnownCommand{"status", Command::status}, KnownCommand{"why-not", Command::why_not, "QUEUE"},
                              KnownCommand{"why", Command::why, "MESSAGE-ID"}, KnownCommand{"top", Command::top},
                              KnownCommand{"drain", Command::drain}};

const KnownCommand* known_command(std::string_view word) {
    const auto* const found =
        std::find_if(commands.begin(), commands.end(), [&](const KnownCommand& one) { return one.word == word; });
    return found == commands.end() ? nullptr : found;
}

model::Problem misuse(std::string what) {
    return {model::ProblemCode::bad_value, "", std::move(what), "see retryctl --help"};
}

// "--name VALUE" or "--name=VALUE" at the start of `rest`, which is shortened by it. Nothing where something else stands there.
std::optional<model::Result<std::string>> take_value(std::span<const std::string>& rest, std::string_view name) {
    const std::string& word = rest.front();
    if (word.starts_with(name) && word.substr(name.size()).starts_with('=')) {
        rest = rest.subspan(1);
        return word.substr(name.size() + 1);
    }
    if (word != name) return std::nullopt;
    if (rest.size() == 1) return misuse(std::string(name) + " needs a value");
    std::string value = rest[1];
    rest = rest.subspan(2);
    return value;
}

class Reader {
public:
    model::Result<RetryctlOptions> read(std::span<const std::string> words) {
        while (!words.empty()) {
            if (const auto problem = take(words)) return *problem;
        }
        return finished();
    }

private:
    std::optional<model::Problem> take(std::span<const std::string>& rest) {
        for (const std::string_view name : {"--admin", "--token-file", "--wait"}) {
            const auto value = take_value(rest, name);
            if (value) return *value ? keep(name, **value) : value->error();
        }
        const std::string& word = rest.front();
        rest = rest.subspan(1);
        if (word != "--") return take_word(word);
        words_.insert(words_.end(), rest.begin(), rest.end());  // a message's id may look like an option
        rest = {};
        return std::nullopt;
    }

    std::optional<model::Problem> keep(std::string_view name, const std::string& value) {
        if (name == "--admin") options_.admin = value;
        if (name == "--token-file") options_.token_file = value;
        if (name != "--wait") return std::nullopt;
        const auto wait = policyfile::parse_duration(value);
        if (!wait) return misuse("--wait: " + model::to_text(wait.error()));
        options_.wait = *wait;
        waits_ = true;
        return std::nullopt;
    }

    std::optional<model::Problem> take_word(const std::string& word) {
        if (word == "--json") {
            options_.json = true;
        } else if (word == "--help" || word == "-h") {
            asked_about_itself_ = Command::help;
        } else if (word == "--version") {
            asked_about_itself_ = Command::version;
        } else if (word.starts_with('-')) {
            return misuse("unknown option " + word);
        } else {
            words_.push_back(word);
        }
        return std::nullopt;
    }

    model::Result<RetryctlOptions> finished() {
        if (asked_about_itself_) {
            options_.command = *asked_about_itself_;
            return options_;
        }
        if (words_.empty()) return misuse("no command");
        const auto* const known = known_command(words_.front());
        if (known == nullptr) return misuse("unknown command " + words_.front());
        const std::size_t wanted = known->argument.empty() ? 1 : 2;
        if (words_.size() < wanted) return misuse(words_.front() + " needs " + std::string(known->argument));
        if (words_.size() > wanted) return misuse("one command at a time: " + words_.front() + " or " + words_[wanted]);
        options_.command = known->command;
        if (wanted == 2) options_.argument = words_[1];
        if (waits_ && known->command != Command::drain) return misuse("--wait belongs to drain");
        return options_;
    }

    RetryctlOptions options_;
    std::vector<std::string> words_;  // the command and its argument
    std::optional<Command> asked_about_itself_;
    bool waits_ = false;
};

model::Result<std::string> read_token(const std::string& path) {
    std::ifstream file{path, std::ios::binary};
    std::string token{std::istreambuf_iterator<char>{file}, {}};
    if (!file.is_open() || file.bad()) {
        return model::Problem{model::ProblemCode::system, path, "the token can't be read", "look at the file and its mode"};
    }
    while (token.ends_with('\n') || token.ends_with('\r')) token.pop_back();
    return token;
}

}  // namespace

model::Result<RetryctlOptions> read_retryctl_options(const std::vector<std::string>& words) {
    return Reader().read(words);
}

model::Result<admin::AdminAddress> admin_address(const RetryctlOptions& options) {
    if (!options.admin) return admin::AdminAddress{.unix_path = admin::socket_to_ask(admin::runtime_places())};
    auto address = admin::parse_admin_address(*options.admin);
    if (!address || !address->unix_path.empty()) return address;
    const char* const named = std::getenv("RETRYD_TOKEN_FILE");
    if (!options.token_file && named == nullptr) return address;
    const auto token = read_token(options.token_file ? *options.token_file : std::string(named));
    if (!token) return token.error();
    address->token = *token;
    return address;
}

}  // namespace retryd::app
