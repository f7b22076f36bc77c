// What a message must have, for rules and needs: patterns of its headers, its routing key, its type.

#include "policyfile/queue_reader.hpp"

namespace retryd::policyfile {

using model::Pattern;
using model::ProblemCode;
using model::Result;

namespace {

void read_header_rules(const Field& field, Values& values, std::vector<model::HeaderRule>& out) {
    if (field.absent()) return;
    if (!field.get().mapping() || field.get().entries.empty()) {
        values.fault(field, "a mapping from header names to patterns is due", "header: {x-provider: \"fx-*\"}");
        return;
    }
    for (const Entry& entry : field.get().entries) {
        model::HeaderRule rule{entry.key, {}};
        if (entry.key.empty() || entry.key.size() > 255) {
            values.faults().add(entry.place, ProblemCode::bad_value, field.path + ": a header's name has 1 to 255 bytes",
                                "another name");
        }
        read_patterns({entry.value, field.path + "." + entry.key}, values, rule.any_of);
        out.push_back(std::move(rule));
    }
}

}  // namespace

void read_patterns(const Field& field, Values& values, std::vector<Pattern>& out) {
    for (const Field& item : values.one_or_more(field)) {
        const std::optional<std::string> text = values.text(item);
        if (!text) continue;
        Result<Pattern> pattern = Pattern::parse(*text);
        if (pattern) {
            out.push_back(*pattern);
        } else {
            const std::string why = names_secret(item.get().text) ? "is no pattern" : "is no pattern: " + pattern.error().what;
            values.fault(item, Values::shown(item) + " " + why, "a text with * for anything, or re: and an RE2 expression");
        }
    }
}

void read_message_match(const Field& mapping, Values& values, model::MessageMatch& out) {
    read_header_rules(mapping.at("header"), values, out.header);
    read_patterns(mapping.at("routing_key"), values, out.routing_key);
    read_patterns(mapping.at("type"), values, out.type);
}

}  // namespace retryd::policyfile
