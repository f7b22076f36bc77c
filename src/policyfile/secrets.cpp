#include "policyfile/secrets.hpp"

#include "policyfile/document.hpp"

#include <algorithm>
#include <cctype>

namespace retryd::policyfile {

using model::Problem;
using model::ProblemCode;
using model::Result;

namespace {

constexpr std::string_view queue_mark = "{queue}";
constexpr std::string_view rule = "the forms are ${env:NAME} and ${file:/PATH}; $${ stands for ${ itself";

Problem wrong(ProblemCode code, std::string what, std::string_view hint) {
    return {code, {}, std::move(what), std::string(hint)};
}

// The length of the form at the start of `text` with its closing brace, stepping over {queue}; npos: not closed.
std::size_t form_length(std::string_view text) {
    std::size_t at = 2;
    while (at < text.size() && text[at] != '}') at += text.substr(at).starts_with(queue_mark) ? queue_mark.size() : 1;
    return at < text.size() ? at + 1 : std::string_view::npos;
}

bool is_variable_name(std::string_view name) {
    const auto fits = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; };
    return !name.empty() && std::isdigit(static_cast<unsigned char>(name[0])) == 0 &&
           std::all_of(name.begin(), name.end(), fits);
}

}  // namespace

Result<std::string> Secrets::expand(std::string_view text, std::string_view queue) {
    std::string out;
    while (!text.empty()) {
        std::size_t taken = 1;
        if (text.starts_with("$$")) {
            out += '$';
            taken = 2;
        } else if (text.starts_with("${")) {
            taken = form_length(text);
            if (taken == std::string_view::npos) return wrong(ProblemCode::bad_syntax, "has a ${ that is not closed", rule);
            const Result<std::string> value = secret(with_queue(text.substr(2, taken - 3), queue));
            if (!value) return value.error();
            out += *value;
        } else if (!queue.empty() && text.starts_with(queue_mark)) {
            out += queue;
            taken = queue_mark.size();
        } else {
            out += text[0];
        }
        text.remove_prefix(taken);
    }
    return out;
}

Result<std::string> Secrets::secret(const std::string& form) {
    const auto known = known_.find(form);
    if (known != known_.end()) return known->second;
    return known_.emplace(form, look_up(form)).first->second;
}

Result<std::string> Secrets::look_up(const std::string& form) const {
    if (form.starts_with("env:") && is_variable_name(form.substr(4))) {
        const std::string name = form.substr(4);
        const std::optional<std::string> value = environment_.variable(name);
        if (value) return *value;
        return wrong(ProblemCode::missing, "names the environment variable " + name + ", which is not set",
                     "set it, even if to nothing");
    }
    if (form.starts_with("file:/")) {
        const std::string path = form.substr(5);
        Result<std::string> bytes = file(path);
        if (bytes) return bytes;
        return wrong(bytes.error().code, "names the file " + quoted(path) + ": " + bytes.error().what, "");
    }
    return wrong(ProblemCode::bad_syntax, "has ${ with something unknown after it", rule);
}

Result<std::string> Secrets::file(const std::string& path, std::size_t longest) const {
    Result<std::string> bytes = environment_.file(path, longest);
    if (!bytes) return bytes;
    if (bytes->ends_with('\n')) bytes->pop_back();
    if (bytes->ends_with('\r')) bytes->pop_back();
    return bytes;
}

std::string with_queue(std::string_view text, std::string_view queue) {
    std::string out;
    while (!text.empty()) {
        const bool mark = !queue.empty() && text.starts_with(queue_mark);
        out += mark ? queue : text.substr(0, 1);
        text.remove_prefix(mark ? queue_mark.size() : 1);
    }
    return out;
}

bool names_secret(std::string_view text) {
    return text.find("${") != std::string_view::npos;
}

}  // namespace retryd::policyfile
