#include "model/pattern.hpp"

#include <re2/re2.h>

#include <cstdint>
#include <optional>

namespace retryd::model {
namespace {

constexpr std::string_view expression_prefix = "re:";
constexpr std::int64_t expression_memory = 1 << 20;  // bytes for program and automaton; beyond it RE2 works slower, not wrong

// Each `*` takes the shortest run that lets the text up to the next `*` match: only the last one is ever widened, so the
// work is at most pattern × text, without recursion.
bool glob_matches(std::string_view glob, std::string_view text) {
    std::size_t g = 0;
    std::size_t t = 0;
    std::optional<std::size_t> star;  // the last `*` seen
    std::size_t after_star = 0;       // where in the text its run ends
    while (t < text.size()) {
        if (g < glob.size() && glob[g] == '*') {
            star = g++;
            after_star = t;
        } else if (g < glob.size() && glob[g] == text[t]) {
            ++g;
            ++t;
        } else if (star) {
            g = *star + 1;
            t = ++after_star;
        } else {
            return false;
        }
    }
    while (g < glob.size() && glob[g] == '*') ++g;
    return g == glob.size();
}

}  // namespace

Result<Pattern> Pattern::parse(std::string_view text) {
    Pattern pattern;
    pattern.text_ = text;
    if (!text.starts_with(expression_prefix)) return pattern;

    re2::RE2::Options options(re2::RE2::Quiet);
    options.set_max_mem(expression_memory);
    options.set_dot_nl(true);
    const std::string_view source = text.substr(expression_prefix.size());
    auto expression = std::make_shared<const re2::RE2>(re2::StringPiece(source.data(), source.size()), options);
    if (!expression->ok()) {
        return Problem{ProblemCode::bad_syntax, "", "bad regular expression: " + expression->error(),
                       "RE2 syntax after re:, without look-around and back-references"};
    }
    pattern.expression_ = std::move(expression);
    return pattern;
}

bool Pattern::matches(std::string_view text) const {
    if (!expression_) return glob_matches(text_, text);
    return re2::RE2::FullMatch(re2::StringPiece(text.data(), text.size()), *expression_);
}

}  // namespace retryd::model
