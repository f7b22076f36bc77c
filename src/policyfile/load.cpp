#include "policyfile/effective.hpp"
#include "policyfile/policyfile.hpp"
#include "policyfile/process_reader.hpp"
#include "policyfile/queue_reader.hpp"

#include <map>

namespace retryd::policyfile {

using model::Policy;
using model::ProblemCode;
using model::QueuePolicy;
using model::Result;

namespace {

// Names first: a destination may name a lane of any queue.
OwnNames give_names(const Sections& sections, const std::string& prefix, Policy& policy) {
    OwnNames names(prefix);
    for (const QueueSection& section : sections.queues) names.give(section.name, policy.queues.emplace_back());
    return names;
}

void check_name(const QueueSection& section, const OwnNames& names, Faults& faults) {
    if (const std::optional<std::string> meaning = names.meaning(section.name)) {
        faults.add(section.place, ProblemCode::duplicate, "queue " + quoted(section.name) + " has the name of " + *meaning,
                   "another names.prefix, or another queue");
    }
    if (section.name.size() <= 255 && names.longest(section.name) > 255) {
        faults.add(section.place, ProblemCode::too_large,
                   "queue " + quoted(section.name) + ": the names of its delay queues would be over 255 bytes",
                   "a shorter names.prefix");
    }
}

// Sessions belong to one queue each, so no two queues may share a socket.
void check_streams(const Sections& sections, const Policy& policy, Faults& faults) {
    std::map<std::string, std::string> taken;
    for (std::size_t i = 0; i < policy.queues.size(); ++i) {
        const auto& stream = policy.queues[i].deliver.stream;
        if (!stream) continue;
        const QueueSection& section = sections.queues[i];
        const auto [other, is_free] = taken.emplace(stream->unix_path, section.name);
        if (is_free) continue;
        faults.add(
            Field{section.values, ""}.at("deliver").at("stream").get().place, ProblemCode::duplicate,
            "deliver.stream: the socket of " + quoted(section.name) + " is that of " + quoted(other->second) + " already",
            "one for each queue: unix:/run/retryd/{queue}.sock");
    }
}

Policy read_policy(const Sections& sections, const Environment& environment, Faults& faults) {
    Policy policy;
    Secrets secrets(environment);
    Values process(faults, secrets, "");
    const OwnNames names = give_names(sections, read_process(sections, process, policy), policy);
    for (const Node& section : sections.alone) {
        Values values(faults, secrets, "queue");
        QueuePolicy thrown_away;
        read_queue_values({section, ""}, policy.dependencies, values, thrown_away);
    }
    for (std::size_t i = 0; i < sections.queues.size(); ++i) {
        const QueueSection& section = sections.queues[i];
        Values values(faults, secrets, section.name);
        check_name(section, names, faults);
        read_queue_values({section.values, ""}, policy.dependencies, values, policy.queues[i]);
        read_queue_whole(section, names, values, policy.queues[i]);
    }
    check_streams(sections, policy, faults);
    return policy;
}

Result<std::string> read_policy_file(const std::string& path, const Environment& environment) {
    Result<std::string> text = environment.file(path, longest_document);
    if (text) return text;
    return model::Problem{text.error().code, path, text.error().what, text.error().hint};
}

}  // namespace

Loaded load_text(std::string_view text, const std::string& name, const Environment& environment) {
    Faults faults(name);
    const Sections sections = read_sections(text, faults);
    if (sections.process.absent()) return {std::nullopt, faults.faults(), faults.warnings()};
    Policy policy = read_policy(sections, environment, faults);
    if (faults.any()) return {std::nullopt, faults.faults(), faults.warnings()};
    policy.hash = hash_of(sections);
    return {std::move(policy), {}, faults.warnings()};
}

Loaded load_file(const std::string& path, const Environment& environment) {
    const Result<std::string> text = read_policy_file(path, environment);
    if (!text) return {std::nullopt, {text.error()}, {}};
    return load_text(*text, path, environment);
}

std::optional<std::vector<EffectiveValue>> effective_values_of_text(std::string_view text, const std::string& name,
                                                                    std::string_view queue, const Environment& environment) {
    Faults faults(name);
    const Sections sections = read_sections(text, faults);
    if (sections.process.absent()) return std::nullopt;
    static_cast<void>(read_policy(sections, environment, faults));
    if (faults.any()) return std::nullopt;
    for (const QueueSection& section : sections.queues) {
        if (section.name != queue) continue;
        std::vector<EffectiveValue> lines = process_values(sections, name);
        for (EffectiveValue& line : queue_values(section, name)) lines.push_back(std::move(line));
        return lines;
    }
    return std::nullopt;
}

std::optional<std::vector<EffectiveValue>> effective_values(const std::string& path, std::string_view queue,
                                                            const Environment& environment) {
    const Result<std::string> text = read_policy_file(path, environment);
    if (!text) return std::nullopt;
    return effective_values_of_text(*text, path, queue, environment);
}

}  // namespace retryd::policyfile
