#include "core/matching.hpp"

#include <algorithm>
#include <string>

namespace retryd::core {

namespace {

// Text is compared as it is, numbers as decimal text; other types match nothing.
std::string header_text(const model::FieldView& field) {
    if (const auto number = model::integer(field)) return std::to_string(*number);
    if (field.type == 't' && !field.bytes.empty()) return field.bytes[0] == 0 ? "false" : "true";
    if (field.type != 'S' && field.type != 'x') return {};
    return std::string(model::content(field).value_or(std::string_view{}));
}

bool headers_match(const model::MessageMatch& rule, const std::vector<model::HeaderView>& headers) {
    return std::all_of(rule.header.begin(), rule.header.end(), [&](const model::HeaderRule& wanted) {
        const auto* header = model::find_header(headers, wanted.name);
        return header != nullptr && any_matches(wanted.any_of, header_text(header->value));
    });
}

}  // namespace

bool any_matches(const std::vector<model::Pattern>& patterns, std::string_view text) {
    return patterns.empty() || std::any_of(patterns.begin(), patterns.end(),
                                           [text](const model::Pattern& pattern) { return pattern.matches(text); });
}

std::vector<model::HeaderView> headers_of(const model::Properties& shown) {
    if (!shown.headers) return {};
    auto table = model::read_table(*shown.headers);
    return table ? std::move(*table) : std::vector<model::HeaderView>{};
}

bool matches(const model::MessageMatch& wanted, const model::Properties& shown, const std::vector<model::HeaderView>& headers,
             std::string_view routing_key) {
    const bool type = wanted.type.empty() || any_matches(wanted.type, shown.type.value_or(std::string_view{}));
    return type && any_matches(wanted.routing_key, routing_key) && headers_match(wanted, headers);
}

std::uint64_t needs_of(const model::QueuePolicy& policy, const model::Properties& shown, std::string_view routing_key) {
    const auto conditional = [](const model::Need& need) { return !need.when.any(); };
    const bool asks = std::any_of(policy.needs.begin(), policy.needs.end(), conditional);
    const auto headers = asks ? headers_of(shown) : std::vector<model::HeaderView>{};
    std::uint64_t mask = 0;
    for (const auto& need : policy.needs) {
        const bool needed = need.when.any() || matches(need.when, shown, headers, routing_key);
        if (needed) mask |= std::uint64_t{1} << need.dependency;
    }
    return mask;
}

}  // namespace retryd::core
