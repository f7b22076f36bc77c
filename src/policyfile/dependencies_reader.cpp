// `dependencies`, of the whole process, and the `needs` of queues that name them.

#include "policyfile/addresses.hpp"
#include "policyfile/guards_reader.hpp"
#include "policyfile/keys.hpp"
#include "policyfile/queue_reader.hpp"

#include <algorithm>

namespace retryd::policyfile {

using namespace std::chrono_literals;
using model::DependencyPolicy;
using model::Need;
using model::OnOpen;
using model::ProblemCode;
using model::Ratio;

namespace {

constexpr const char* needs_rule = "[db, {fx: {header: {x-provider: \"fx-*\"}}}]";

// It is a label of metrics and a word of commands.
bool is_dependency_name(std::string_view name) {
    const auto fits = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
    };
    return !name.empty() && name.size() <= 64 && std::all_of(name.begin(), name.end(), fits);
}

void check_dependency_name(const Entry& entry, Values& values) {
    const auto fault = [&](const char* what, const char* hint) {
        values.faults().add(entry.place, ProblemCode::bad_value, "dependencies: " + quoted(entry.key) + " " + what, hint);
    };
    if (!is_dependency_name(entry.key)) fault("is no name of a dependency", "letters, digits, '-', '_' and '.', at most 64");
    if (entry.key == "other") fault("stands for what replies name and the policy does not", "another name");
}

void read_on_open(const Field& field, Values& values, OnOpen& out) {
    values.choose<OnOpen>(
        field,
        {{"auto", OnOpen::automatic}, {"pause", OnOpen::pause}, {"divert", OnOpen::divert}, {"fallback", OnOpen::fallback}},
        out);
}

constexpr const char* fallback_rule = "on_open: fallback, fallback: [\"http://127.0.0.1:8081/later\"]";

void read_fallback(const Field& field, const Field& on_open, Values& values, DependencyPolicy& out) {
    if (!field.get().list()) {
        values.fault(field, "a list of consumers is due", fallback_rule);
        return;
    }
    for (const Node& item : field.get().items) {
        const Field each = field.with(item);
        const std::optional<std::string> text = values.text(each);
        if (!text) continue;
        const model::Result<model::HttpTarget> target = parse_http_target(*text);
        if (target) {
            out.fallback.push_back(*target);
        } else {
            values.fault(each, "the address " + target.error().what, fallback_rule);
        }
    }
    const bool wanted = out.on_open == OnOpen::fallback;
    if (wanted && field.get().items.empty()) {
        values.fault(on_open, "fallback, and nobody is named", fallback_rule, ProblemCode::missing);
    } else if (!wanted && !field.get().items.empty()) {
        values.fault(field, "takes no effect, as on_open is not fallback", fallback_rule);
    }
}

void read_recover(const Field& recover, Values& values, std::optional<model::RecoverPolicy>& out) {
    out.reset();
    if (recover.off()) return;
    auto& policy = out.emplace();
    values.read(recover.at("to"), {Ratio{1}, Ratio{10}}, policy.to);
    values.read(recover.at("of"), {1min, 24h}, policy.of);
}

void read_dependency(const Field& field, Values& values, DependencyPolicy& out) {
    read_breaker(field, values, out.breaker);
    values.read(field.at("slow_call"), {1ms, 24h}, out.breaker.slow_call);
    values.read(field.at("slow_rate"), {Ratio{0.01}, Ratio{1}}, out.breaker.slow_rate);
    read_on_open(field.at("on_open"), values, out.on_open);
    read_fallback(field.at("fallback"), field.at("on_open"), values, out);
    read_rate(field.at("rate"), field.at("burst"), values, out.rate);
    read_recover(field.at("recover"), values, out.recover);
}

class NeedsReader {
public:
    NeedsReader(const std::vector<DependencyPolicy>& dependencies, Values& values)
        : dependencies_(dependencies), values_(values) {}

    void read(const Field& item, std::vector<Need>& out) {
        if (item.absent()) return;
        if (item.get().mapping()) {
            for (const Entry& entry : item.get().entries) read_condition(entry, item.path, out);
            return;
        }
        const std::optional<std::string> name = values_.text(item);
        if (name) add(*name, item, out);
    }

private:
    void read_condition(const Entry& entry, const std::string& path, std::vector<Need>& out) {
        const Field field{entry.value, path + "." + entry.key};
        if (field.absent()) return;
        if (!entry.value.mapping() || entry.value.entries.empty()) {
            values_.fault(field, "a condition is due: header, routing_key or type", needs_rule);
            return;
        }
        check_keys_of(entry.value, {"header", "routing_key", "type"}, field.path, values_.faults());
        if (Need* const need = add(entry.key, field, out)) read_message_match(field, values_, need->when);
    }

    Need* add(const std::string& name, const Field& field, std::vector<Need>& out) {
        const auto found = std::find_if(dependencies_.begin(), dependencies_.end(),
                                        [&](const DependencyPolicy& one) { return one.name == name; });
        if (found == dependencies_.end()) {
            std::vector<std::string> known;
            for (const DependencyPolicy& one : dependencies_) known.push_back(one.name);
            values_.fault(field, quoted(name) + " is none of the dependencies",
                          known.empty() ? "dependencies: {" + name + ": {}}" : closest_key(name, known), ProblemCode::unknown);
            return nullptr;
        }
        const auto position = static_cast<std::size_t>(found - dependencies_.begin());
        const bool twice = std::any_of(out.begin(), out.end(), [&](const Need& one) { return one.dependency == position; });
        if (twice) {
            values_.fault(field, quoted(name) + " stands twice", "one condition with a list: a list means one of",
                          ProblemCode::duplicate);
            return nullptr;
        }
        return &out.emplace_back(Need{position, {}});
    }

    const std::vector<DependencyPolicy>& dependencies_;
    Values& values_;
};

}  // namespace

void read_dependencies(const Field& dependencies, Values& values, std::vector<DependencyPolicy>& out) {
    if (dependencies.absent()) return;
    const auto& entries = dependencies.get().entries;
    if (entries.size() > model::max_dependencies) {
        values.fault(dependencies, "more than 64 dependencies", "those that fail together are one", ProblemCode::too_large);
        return;
    }
    for (const Entry& entry : entries) {
        check_dependency_name(entry, values);
        auto& one = out.emplace_back();
        one.name = entry.key;
        if (!entry.value.absent()) read_dependency({entry.value, "dependencies." + entry.key}, values, one);
    }
}

void read_needs(const Field& needs, const std::vector<DependencyPolicy>& dependencies, Values& values, std::vector<Need>& out) {
    if (needs.absent()) return;
    if (!needs.get().list()) {
        values.fault(needs, "a list of dependencies is due", needs_rule);
        return;
    }
    NeedsReader reader(dependencies, values);
    for (const Node& item : needs.get().items) reader.read(needs.with(item), out);
}

}  // namespace retryd::policyfile
