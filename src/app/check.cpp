#include "app/check.hpp"

#include "policyfile/advice.hpp"
#include "policyfile/policyfile.hpp"

#include <algorithm>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

namespace retryd::app {

using policyfile::EffectiveValue;
using policyfile::Environment;
using policyfile::Loaded;

namespace {

constexpr int good = 0, faulty = 1, misused = 2;

struct Request {
    std::string file;
    std::optional<std::string> queue;  // print its effective values
};

// Nothing when the words make no sense.
std::optional<Request> read_words(std::span<const std::string_view> args) {
    std::optional<std::string> file;
    std::optional<std::string> queue;
    for (std::size_t i = 0; i < args.size(); ++i) {
        if (args[i] == "--print-effective") {
            if (queue || i + 1 == args.size()) return std::nullopt;
            queue = args[++i];
        } else {
            if (file || args[i].empty() || args[i].starts_with("-")) return std::nullopt;
            file = args[i];
        }
    }
    if (!file) return std::nullopt;
    return Request{*file, queue};
}

int tell_faults(const std::vector<model::Problem>& problems, std::ostream& err) {
    for (const model::Problem& problem : problems) err << to_text(problem) << '\n';
    err << problems.size() << (problems.size() == 1 ? " fault\n" : " faults\n");
    return faulty;
}

void tell_good(const Request& request, const Loaded& loaded, std::ostream& out) {
    const std::size_t queues = loaded.policy->queues.size();
    out << request.file << ": ok, " << queues << (queues == 1 ? " queue\n" : " queues\n");
    for (const std::string& line : policyfile::summary_of(*loaded.policy)) out << line << '\n';
    for (const model::Problem& warning : loaded.warnings) out << "warning: " << to_text(warning) << '\n';
    for (const std::string& line : policyfile::dangers_of(*loaded.policy)) out << "warning: " << line << '\n';
}

// A character takes one column, whatever bytes it has.
std::size_t columns(const std::string& text) {
    return static_cast<std::size_t>(
        std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

std::string padded(const std::string& text, std::size_t width) {
    const std::size_t taken = columns(text);
    return text + std::string(taken < width ? width - taken + 2 : 2, ' ');
}

void print_values(const std::vector<EffectiveValue>& values, std::ostream& out) {
    static constexpr std::size_t widest_value = 44;  // a longer one pushes its own origin aside only
    const auto shown = [](const EffectiveValue& value) { return value.value + (value.later ? " (later)" : ""); };
    std::size_t key_width = 0;
    std::size_t value_width = 0;
    for (const EffectiveValue& value : values) {
        key_width = std::max(key_width, columns(value.key));
        value_width = std::max(value_width, std::min(columns(shown(value)), widest_value));
    }
    for (const EffectiveValue& value : values) {
        out << padded(value.key, key_width) << padded(shown(value), value_width) << value.origin << '\n';
    }
}

int tell_effective(const Request& request, const Environment& environment, std::ostream& out, std::ostream& err) {
    const auto values = policyfile::effective_values(request.file, *request.queue, environment);
    if (!values) {
        err << "retryd check: " << request.file << " has no queue \"" << *request.queue << "\"\n";
        return misused;
    }
    print_values(*values, out);
    return good;
}

}  // namespace

int check(std::span<const std::string_view> args, std::ostream& out, std::ostream& err) {
    const std::optional<Request> request = read_words(args);
    if (!request) {
        err << "usage: retryd check FILE [--print-effective QUEUE]\n";
        return misused;
    }
    const Environment environment = Environment::of_process();
    const Loaded loaded = policyfile::load_file(request->file, environment);
    if (!loaded.policy) return tell_faults(loaded.problems, err);
    if (request->queue) return tell_effective(*request, environment, out, err);
    tell_good(*request, loaded, out);
    return good;
}

}  // namespace retryd::app
