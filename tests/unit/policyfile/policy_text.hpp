#pragma once
// Loads a policy text with a made-up environment.

#include "policyfile/policyfile.hpp"

#include <map>
#include <string>
#include <vector>

namespace retryd::policyfile {

struct Surroundings {
    std::map<std::string, std::string> variables, files;

    [[nodiscard]] Environment environment() const {
        return {[this](const std::string& name) -> std::optional<std::string> {
                    const auto found = variables.find(name);
                    return found == variables.end() ? std::nullopt : std::optional<std::string>(found->second);
                },
                [this](const std::string& path, std::size_t limit) -> model::Result<std::string> {
                    const auto found = files.find(path);
                    if (found == files.end())
                        return model::Problem{model::ProblemCode::system, {}, "No such file or directory", {}};
                    if (found->second.size() > limit)
                        return model::Problem{model::ProblemCode::too_large, {}, "is too large", {}};
                    return found->second;
                }};
    }
};

inline Loaded load(const std::string& text, const Surroundings& surroundings = {}) {
    const Environment environment = surroundings.environment();
    return load_text(text, "p.yaml", environment);
}

// "4:3: what; hint" for each fault.
inline std::vector<std::string> faults_of(const std::string& text, const Surroundings& surroundings = {}) {
    std::vector<std::string> lines;
    for (const model::Problem& problem : load(text, surroundings).problems) lines.push_back(to_text(problem).substr(7));
    return lines;
}

inline const std::string broker = "broker: amqp://localhost\n";

// A policy of one queue `w` with a consumer and `keys`, given in flow style, from column 5 of line 3 on:
//   queues:
//    w: KEYS
inline std::string queue_with(const std::string& keys) {
    return broker + "defaults: {deliver: {http: \"http://c\"}}\nqueues:\n w: {" + keys + "}\n";
}

}  // namespace retryd::policyfile
