#include "policyfile/values.hpp"

namespace retryd::policyfile {

using model::ByteCount;
using model::Frequency;
using model::Milliseconds;
using model::Problem;
using model::ProblemCode;
using model::Ratio;
using model::Result;

namespace {

std::string text_of(std::uint32_t number) {
    return std::to_string(number);
}
std::string text_of(Milliseconds duration) {
    return to_text(duration);
}
std::string text_of(ByteCount size) {
    return to_text(size);
}
std::string text_of(Ratio ratio) {
    return std::to_string(static_cast<int>(ratio.value * 100 + 0.5)) + "%";
}
std::string text_of(Frequency frequency) {
    return to_text(frequency);
}
std::string text_of(double factor) {
    std::string text = std::to_string(factor);  // at most three digits behind the point are ever written
    text.erase(text.find_last_not_of('0') + 1);
    return text.ends_with('.') ? text.substr(0, text.size() - 1) : text;
}

// What keeps a parsed value from being taken; nothing when it may be.
template <class T, class R>
std::optional<Problem> trouble(const Result<T>& parsed, const Range<R>& range) {
    if (!parsed) return parsed.error();
    const std::string allowed = text_of(range.least) + " to " + text_of(range.most);
    if (*parsed < T(range.least)) return Problem{ProblemCode::bad_value, {}, "is under " + text_of(range.least), allowed};
    if (*parsed > T(range.most)) return Problem{ProblemCode::bad_value, {}, "is over " + text_of(range.most), allowed};
    return std::nullopt;
}

template <class T, class R>
std::optional<T> within(Values& values, const Field& field, const Result<T>& parsed, const Range<R>& range) {
    const std::optional<Problem> problem = trouble(parsed, range);
    if (!problem) return *parsed;
    values.fault(field, Values::shown(field) + " " + problem->what, problem->hint);
    return std::nullopt;
}

const Node nothing;

}  // namespace

Field Field::at(std::string_view key) const {
    const Node* const found = get().find(key);
    return {found == nullptr ? nothing : *found, path.empty() ? std::string(key) : path + "." + std::string(key)};
}

void Values::fault(const Field& field, const std::string& what, std::string hint, ProblemCode code) {
    faults_.add(field.get().place, code, field.path + ": " + what, std::move(hint));
}

std::optional<std::string> Values::text(const Field& field) {
    if (field.absent()) return std::nullopt;
    if (!field.get().scalar()) {
        fault(field, field.get().list() ? "a list stands here" : "a mapping stands here", "one value is due");
        return std::nullopt;
    }
    Result<std::string> expanded = secrets_.expand(field.get().text, queue_);
    if (expanded) return *expanded;
    fault(field, expanded.error().what, expanded.error().hint, expanded.error().code);
    return std::nullopt;
}

std::optional<std::string> Values::file(const Field& field, std::size_t longest) {
    const std::optional<std::string> path = text(field);
    if (!path) return std::nullopt;
    Result<std::string> content = secrets_.file(*path, longest);
    if (content) return *content;
    fault(field, "names the file " + shown(field) + ": " + content.error().what, content.error().hint, content.error().code);
    return std::nullopt;
}

std::optional<std::string> Values::number_text(const Field& field) {
    std::optional<std::string> written = text(field);
    if (!written || field.get().plain) return written;
    fault(field, shown(field) + " in quotes is a string", "a number is due: write it without quotes");
    return std::nullopt;
}

std::vector<Field> Values::one_or_more(const Field& field) {
    std::vector<Field> fields;
    if (field.absent()) return fields;
    if (!field.get().list()) return {field};
    if (field.get().items.empty()) fault(field, "the list is empty", "leave the key out, or name at least one");
    for (const Node& item : field.get().items) fields.push_back(field.with(item));
    return fields;
}

void Values::read(const Field& field, Range<std::uint32_t> range, std::uint32_t& out) {
    const std::optional<std::string> written = number_text(field);
    if (!written) return;
    if (const auto value = within(*this, field, parse_integer(*written), range)) out = static_cast<std::uint32_t>(*value);
}

void Values::read(const Field& field, Range<Milliseconds> range, Milliseconds& out) {
    const std::optional<std::string> written = text(field);
    if (!written) return;
    if (const auto value = within(*this, field, parse_duration(*written), range)) out = *value;
}

void Values::read(const Field& field, Range<ByteCount> range, ByteCount& out) {
    const std::optional<std::string> written = text(field);
    if (!written) return;
    if (const auto value = within(*this, field, parse_size(*written), range)) out = *value;
}

void Values::read(const Field& field, Range<Ratio> range, Ratio& out) {
    const std::optional<std::string> written = text(field);
    if (!written) return;
    if (const auto value = within(*this, field, parse_ratio(*written), range)) out = *value;
}

void Values::read(const Field& field, Range<double> range, double& out) {
    const std::optional<std::string> written = number_text(field);
    if (!written) return;
    if (const auto value = within(*this, field, parse_factor(*written), range)) out = *value;
}

void Values::read(const Field& field, Range<Frequency> range, Frequency& out) {
    const std::optional<std::string> written = text(field);
    if (!written) return;
    if (const auto value = within(*this, field, parse_frequency(*written), range)) out = *value;
}

}  // namespace retryd::policyfile
