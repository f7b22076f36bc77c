#pragma once
// A text matcher of the policy file: `*` globs, or `re:` and an RE2 expression. Both match the whole text,
// line breaks included: error messages often have several lines.

#include "model/problem.hpp"

#include <memory>
#include <string>
#include <string_view>

namespace re2 {
class RE2;
}

namespace retryd::model {

class Pattern {
public:
    // Fails with RE2's own words on a bad expression.
    [[nodiscard]] static Result<Pattern> parse(std::string_view text);
    [[nodiscard]] bool matches(std::string_view text) const;
    [[nodiscard]] const std::string& text() const { return text_; }
    bool operator==(const Pattern& other) const { return text_ == other.text_; }

private:
    std::string text_;                            // as written
    std::shared_ptr<const re2::RE2> expression_;  // for `re:`
};

}  // namespace retryd::model
