#pragma once
// What stands for something else in a string of the policy: `${env:NAME}`, `${file:PATH}`, `{queue}`, and `$$` for `$`.
//
// One pass from left to right: what was put in is not looked at again. A `$` before anything else is itself. Any other
// `${…}` is a fault, and so is a variable that is not set. The newline at the end of a secret file is dropped.

#include "model/problem.hpp"
#include "policyfile/policyfile.hpp"

#include <map>
#include <string>
#include <string_view>

namespace retryd::policyfile {

inline constexpr std::size_t longest_secret = 64 * 1024;

class Secrets {
public:
    // `environment` outlives this.
    explicit Secrets(const Environment& environment) : environment_(environment) {}
    // Problems name the variable or the file, never a value. Each secret is looked up once in this object's life.
    [[nodiscard]] model::Result<std::string> expand(std::string_view text, std::string_view queue);

    // What the file holds, without the newline at its end. Problems don't name it: its path may be a secret by mistake.
    [[nodiscard]] model::Result<std::string> file(const std::string& path, std::size_t longest = longest_secret) const;

private:
    [[nodiscard]] model::Result<std::string> secret(const std::string& form);
    [[nodiscard]] model::Result<std::string> look_up(const std::string& form) const;

    const Environment& environment_;
    std::map<std::string, model::Result<std::string>> known_;
};

// `text` with `{queue}` replaced and nothing else.
[[nodiscard]] std::string with_queue(std::string_view text, std::string_view queue);
// Whether `text` holds a `${env:…}` or `${file:…}`, so that its value must not be shown.
[[nodiscard]] bool names_secret(std::string_view text);

}  // namespace retryd::policyfile
