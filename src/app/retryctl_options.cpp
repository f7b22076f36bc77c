#include "app/retryctl_options.hpp"

#include "admin/address.hpp"
#include "model/order.hpp"
#include "policyfile/scalars.hpp"

#include <algorithm>
#include <array>
#include <cmath>
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
  breakers            each breaker: its state, what it has counted, and what comes next
  breaker open|close|disable|reset NAME [--for 30m]
                      nothing passes; all passes; all passes and is counted only; as at the start.
                      --for: so long, else until another word or the end of retryd
  pause QUEUE         deliver nothing; what is in hand stays
  throttle QUEUE --retries 20%
                      let the return lane have this share of its normal rate
  resume QUEUE        neither paused nor throttled
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

Exit codes: 0 answered, 1 retryd cannot be reached, does not know the name, or is not drained in time,
            2 wrong usage
)";

namespace {

struct KnownCommand {
    std::string_view word;
    Command command;
    std::string_view argument = {};  // what it asks for; empty: nothing
    std::string_view option = {};    // that belongs to it
};
constexpr std::chrono::milliseconds shortest_order{1};
constexpr std::chrono::hours longest_order{366 * 24};

constexpr std::array commands{KnownCommand{"status", Command::status},
                              KnownCommand{"why-not", Command::why_not, "QUEUE"},
                              KnownCommand{"why", Command::why, "MESSAGE-ID"},
                              KnownCommand{"top", Command::top},
                              KnownCommand{"drain", Command::drain, "", "--wait"},
                              KnownCommand{"breakers", Command::breakers},
                              KnownCommand{"breaker", Command::breaker, "open|close|disable|reset NAME", "--for"},
                              KnownCommand{"pause", Command::pause, "QUEUE"},
                              KnownCommand{"resume", Command::resume, "QUEUE"},
                              KnownCommand{"throttle", Command::throttle, "QUEUE", "--retries"}};

const KnownCommand* known_command(std::string_view word) {
    const auto* const found =
        std::find_if(commands.begin(), commands.end(), [&](const KnownCommand& one) { return one.word == word; });
    return found == commands.end() ? nullptr : found;
}

std::size_t words_in(std::string_view text) {
    return text.empty() ? 0 : 1 + static_cast<std::size_t>(std::count(text.begin(), text.end(), ' '));
}

std::string owner_of(std::string_view option) {
    const auto* const found =
        std::find_if(commands.begin(), commands.end(), [&](const KnownCommand& one) { return one.option == option; });
    return found == commands.end() ? "another command" : std::string(found->word);
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
        for (const std::string_view name : {"--admin", "--token-file", "--wait", "--for", "--retries"}) {
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
        if (name == "--admin" || name == "--token-file") return std::nullopt;
        special_ = name;
        if (name == "--retries") return keep_share(value);
        const auto span = policyfile::parse_duration(value);
        if (!span) return misuse(special_ + ": " + model::to_text(span.error()));
        if (name == "--for" && (*span < shortest_order || *span > longest_order))
            return misuse("--for: from 1ms to 366d, not " + value);
        if (name == "--wait") options_.wait = *span;
        if (name == "--for") options_.lasting = *span;
        return std::nullopt;
    }

    std::optional<model::Problem> keep_share(const std::string& value) {
        const auto share = policyfile::parse_ratio(value);
        const auto percent = share ? std::lround(share->value * 100) : 0;
        if (percent < 1 || percent > 100) return misuse("--retries is a share of the lane's normal rate: 1% to 100%");
        options_.percent = static_cast<std::uint32_t>(percent);
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
        const std::size_t wanted = 1 + words_in(known->argument);
        if (words_.size() < wanted) return misuse(words_.front() + " needs " + std::string(known->argument));
        if (words_.size() > wanted) return misuse("one command at a time: " + words_.front() + " or " + words_[wanted]);
        options_.command = known->command;
        if (wanted > 1) options_.argument = words_.back();
        if (wanted > 2) options_.act = words_[1];
        if (const auto problem = misfit(*known)) return *problem;
        return options_;
    }

    // What is wrong with the options and arguments of this command.
    std::optional<model::Problem> misfit(const KnownCommand& known) const {
        if (!special_.empty() && special_ != known.option) return misuse(special_ + " belongs to " + owner_of(special_));
        if (known.command == Command::throttle && options_.percent == 0) return misuse("throttle needs --retries 20%");
        if (known.command != Command::breaker) return std::nullopt;
        const auto& acts = model::breaker_acts;
        const bool is_act =
            std::any_of(acts.begin(), acts.end(), [&](auto one) { return model::to_text(one) == options_.act; });
        if (!is_act) return misuse("breaker needs " + std::string(known.argument));
        if (options_.act == "reset" && options_.lasting) return misuse("reset has no --for: the breaker goes on by itself");
        return std::nullopt;
    }

    RetryctlOptions options_;
    std::vector<std::string> words_;  // the command and its argument
    std::optional<Command> asked_about_itself_;
    std::string special_;  // an option that belongs to one command
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
