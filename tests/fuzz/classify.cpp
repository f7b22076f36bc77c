// Patterns of a policy against texts of a consumer: globs agree with the plainest way to match them, expressions end in
// linear time; and what comes out of a judgement is fit to decide by.

#include "core/classify.hpp"
#include "deliver/http_reply.hpp"
#include "fuzz/input.hpp"
#include "fuzz/messages.hpp"
#include "model/pattern.hpp"

#include <vector>

using namespace retryd;
using fuzz::require;

namespace {

// Which prefixes of the text the glob matches so far, letter by letter of the glob.
bool plainly_matches(std::string_view glob, std::string_view text) {
    std::vector<char> reached(text.size() + 1, 0);
    reached[0] = 1;
    for (const char letter : glob) {
        std::vector<char> next(text.size() + 1, 0);
        for (std::size_t i = 0; i <= text.size(); ++i) {
            if (letter == '*')
                next[i] = reached[i] != 0 || (i > 0 && next[i - 1] != 0);
            else
                next[i] = i > 0 && text[i - 1] == letter && reached[i - 1] != 0;
        }
        reached = next;
    }
    return reached[text.size()] != 0;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::Input in(data, size);
    const auto source = in.text();
    const auto header = in.text();
    const auto status = static_cast<std::uint16_t>(in.number(2));
    const auto retry_after = in.text();
    const auto type = in.text();
    const model::WallTime now{std::chrono::milliseconds{in.number(5)}};
    const auto pattern = model::Pattern::parse(source);
    if (!pattern) return 0;
    if (!source.starts_with("re:")) require(pattern->matches(type) == plainly_matches(source, type), "a glob is a glob");

    model::QueuePolicy policy;
    policy.classify.resize(2);
    policy.classify[0].error_type = {*pattern};
    policy.classify[0].as = model::Outcome::permanent;
    policy.classify[1].header = {{std::string(header), {*pattern}}};
    const auto reply = deliver::read_reply(status, {{"Retry-After", retry_after}, {"Retryd-Error-Type", type}}, in.line());
    const auto bytes = property_bytes(in);
    const auto shown = model::read_properties(bytes);
    const auto rules = core::rules_matching(policy, shown ? *shown : model::Properties{}, type);
    const auto judgement = core::classify(policy, rules, reply, in.flag(), now);
    require((rules & 1U) == 1 && rules < 4, "a rule that asks nothing of the message applies to it");
    require(!judgement.error_type.empty(), "every judgement has a type");
    if (judgement.retry_after) {
        require(judgement.retry_after->count() >= 0, "no wait is negative");
        require(*judgement.retry_after <= std::chrono::years{8100}, "and none too long to add to a time");
    }
    return 0;
}
