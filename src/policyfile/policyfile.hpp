#pragma once
// The policy file: YAML, environment and secret files in, a complete model::Policy or every fault at once out.
//
//   Loaded loaded = load_file("retryd.yaml", Environment::of_process());
//   if (!loaded.policy) for (const auto& problem : loaded.problems) print(to_text(problem));
//
// No problem, warning, effective value or hash holds an expanded secret or a password.

#include "model/policy.hpp"
#include "model/problem.hpp"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace retryd::policyfile {

// Where `${env:NAME}` and `${file:PATH}` look.
struct Environment {
    std::function<std::optional<std::string>(const std::string& name)> variable;  // nothing: not set
    // The file's bytes, or why not. At most `limit` bytes; longer is a problem.
    std::function<model::Result<std::string>(const std::string& path, std::size_t limit)> file;

    [[nodiscard]] static Environment of_process();
};

struct Loaded {
    std::optional<model::Policy> policy;   // there exactly when `problems` is empty
    std::vector<model::Problem> problems;  // in the file's order
    std::vector<model::Problem> warnings;  // about values that are allowed but probably not meant, with their place
};

[[nodiscard]] Loaded load_file(const std::string& path, const Environment& environment);
// `name` stands for the file in every place.
[[nodiscard]] Loaded load_text(std::string_view text, const std::string& name, const Environment& environment);

// One value in force and where it comes from.
struct EffectiveValue {
    std::string key;     // "retry.quick.tries"
    std::string value;   // as written, `***` where it is secret, "(none)" where there is none
    std::string origin;  // "built-in", "FILE:3", "defaults, FILE:3", "group partner, FILE:7", "queue, FILE:12"
    bool later = false;  // not supported yet: the value takes no effect
};
// First what the process has, then the queue's own. Nothing when the file has faults or no such queue.
[[nodiscard]] std::optional<std::vector<EffectiveValue>> effective_values(const std::string& path, std::string_view queue,
                                                                          const Environment& environment);
[[nodiscard]] std::optional<std::vector<EffectiveValue>> effective_values_of_text(std::string_view text,
                                                                                  const std::string& name,
                                                                                  std::string_view queue,
                                                                                  const Environment& environment);

}  // namespace retryd::policyfile
