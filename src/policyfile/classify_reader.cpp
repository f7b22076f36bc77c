#include "policyfile/keys.hpp"
#include "policyfile/queue_reader.hpp"

#include "model/tiers.hpp"

namespace retryd::policyfile {

using model::ClassifyRule;
using model::Outcome;
using model::ProblemCode;
using model::Result;
using model::StatusRange;

namespace {

constexpr const char* status_rule = "404, 5xx or 500-503";

std::optional<std::uint16_t> status_number(std::string_view text) {
    const Result<std::uint64_t> number = parse_integer(text);
    if (!number || *number < 100 || *number > 599) return std::nullopt;
    return static_cast<std::uint16_t>(*number);
}

std::optional<StatusRange> status_range(std::string_view text) {
    if (text.size() == 3 && text.ends_with("xx") && text[0] >= '1' && text[0] <= '5') {
        const auto hundreds = static_cast<std::uint16_t>((text[0] - '0') * 100);
        return StatusRange{hundreds, static_cast<std::uint16_t>(hundreds + 99)};
    }
    const std::size_t dash = text.find('-');
    const auto first = status_number(text.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : status_number(text.substr(dash + 1));
    if (!first || !last || *last < *first) return std::nullopt;
    return StatusRange{*first, *last};
}

void read_statuses(const Field& field, Values& values, std::vector<StatusRange>& out) {
    for (const Field& item : values.one_or_more(field)) {
        const std::optional<std::string> text = values.text(item);
        if (!text) continue;
        const std::optional<StatusRange> range = status_range(*text);
        if (!range) {
            values.fault(item, Values::shown(item) + " is no status", status_rule);
        } else if (!item.get().plain && range->first == range->last) {
            values.fault(item, Values::shown(item) + " in quotes is a string", "a number is due: write it without quotes");
        } else {
            out.push_back(*range);
        }
    }
}

void read_outcome(const Field& rule, Values& values, Outcome& out) {
    const Field as = rule.at("as");
    static constexpr const char* words = "one of: success, drop, transient, permanent, throttled, endpoint";
    if (as.absent() && rule.get().find("as") == nullptr) {
        values.fault(rule, "the rule has no `as`", words, ProblemCode::missing);
    }
    const std::optional<std::string> text = values.text(as);
    if (!text) return;
    if (const std::optional<Outcome> outcome = model::stated_outcome(*text)) {
        out = *outcome;
    } else {
        values.fault(as, Values::shown(as) + " is no outcome that a rule may state", words);
    }
}

void read_rule_delay(const Field& field, Values& values, ClassifyRule& out) {
    if (field.absent()) return;
    if (out.as != Outcome::transient && out.as != Outcome::throttled) {
        values.fault(field, "only transient and throttled have a delay", "leave it out");
        return;
    }
    model::Milliseconds delay = model::shortest_delay;
    values.read(field, {model::shortest_delay, model::longest_delay}, delay);
    out.delay = delay;
}

void read_rule(const Field& rule, Values& values, ClassifyRule& out) {
    static const std::vector<std::string> matchers{"status", "error_type",  "error_message", "dependency",
                                                   "header", "routing_key", "type"};
    std::vector<std::string> keys = matchers;
    keys.insert(keys.end(), {"as", "delay"});
    check_keys_of(rule.get(), keys, rule.path, values.faults());
    bool matches_something = false;
    for (const std::string& matcher : matchers) matches_something |= rule.get().find(matcher) != nullptr;
    if (!matches_something) {
        values.fault(rule, "the rule names nothing to match, so it would take successes too",
                     "status: 5xx, error_type: \"*Timeout\" …");
    }
    read_statuses(rule.at("status"), values, out.status);
    read_patterns(rule.at("error_type"), values, out.error_type);
    read_patterns(rule.at("error_message"), values, out.error_message);
    read_patterns(rule.at("dependency"), values, out.dependency);
    read_message_match(rule, values, out);
    read_outcome(rule, values, out.as);
    read_rule_delay(rule.at("delay"), values, out);
}

}  // namespace

void read_classify(const Field& classify, Values& values, std::vector<ClassifyRule>& out) {
    if (classify.absent()) return;
    if (!classify.get().list()) {
        values.fault(classify, "a list of rules is due", "classify: [{status: 404, as: permanent}]");
        return;
    }
    if (classify.get().items.size() > model::max_classify_rules) {
        values.fault(classify, "more than 64 rules", "join them: a list in a rule means one of", ProblemCode::too_large);
        return;
    }
    for (const Node& item : classify.get().items) {
        const Field rule = classify.with(item);
        if (rule.absent()) continue;
        if (!item.mapping()) {
            values.fault(rule, "a rule is a mapping", "{status: 404, as: permanent}");
            continue;
        }
        read_rule(rule, values, out.emplace_back());
    }
}

}  // namespace retryd::policyfile
