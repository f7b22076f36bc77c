#include "model/reserved_headers.hpp"
#include "model/tiers.hpp"
#include "policyfile/addresses.hpp"
#include "policyfile/guards_reader.hpp"
#include "policyfile/keys.hpp"
#include "policyfile/queue_reader.hpp"

#include <algorithm>
#include <cctype>
#include <set>

namespace retryd::policyfile {

using namespace std::chrono_literals;
using model::ByteCount;
using model::HttpTarget;
using model::ProblemCode;
using model::Result;

namespace {

constexpr std::size_t longest_header_value = 4096;
constexpr std::uint32_t most_at_once = 10'000;

void read_path(const Field& deliver, Values& values, HttpTarget& target) {
    const Field path = deliver.at("path");
    const std::optional<std::string> text = values.text(path);
    if (!text || path.built_in()) return;
    if (const auto trouble = request_path_trouble(*text)) {
        values.fault(path, Values::shown(path) + ": " + trouble->what, trouble->hint);
    } else if (*text == "/") {
        return;  // the same as not written
    } else if (target.unix_path.empty() && target.path != "/") {
        values.fault(path, "deliver.http (line " + std::to_string(deliver.at("http").get().place.line) + ") has a path already",
                     "keep one of them");
    } else {
        target.path = *text;
        target.path_is_secret = names_secret(path.get().text);
    }
}

void read_target(const Field& deliver, Values& values, HttpTarget& out) {
    const Field http = deliver.at("http");
    const std::optional<std::string> text = http.off() ? std::nullopt : values.text(http);
    if (text) {
        const Result<HttpTarget> target = parse_http_target(*text);
        if (target) {
            out = *target;
            out.path_is_secret = names_secret(http.get().text);
        } else {
            const bool names_user = text->find('@') != std::string::npos;  // and so, perhaps, a password
            values.fault(http, (names_user ? "the address" : Values::shown(http) + ":") + " " + target.error().what,
                         target.error().hint);
        }
    }
    read_path(deliver, values, out);
}

std::string lower(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return text;
}

bool is_token(std::string_view name) {
    static constexpr std::string_view marks = "!#$%&'*+-.^_`|~";
    const auto fits = [](unsigned char c) {
        return c < 0x80 && (std::isalnum(c) != 0 || marks.find(static_cast<char>(c)) != std::string_view::npos);
    };
    return !name.empty() && std::all_of(name.begin(), name.end(), fits);
}

// What keeps a header's value from being sent; empty when it is fit. Never repeats the value.
std::string value_trouble(std::string_view value) {
    if (std::any_of(value.begin(), value.end(), [](unsigned char c) { return (c < 0x20 && c != '\t') || c >= 0x7F; })) {
        return "the value has a character that no HTTP header may have, such as a line end";
    }
    if (value.size() > longest_header_value) return "the value is longer than 4096 bytes";
    if (!value.empty() && (value.front() == ' ' || value.back() == ' ')) return "the value begins or ends with a space";
    return {};
}

void read_headers(const Field& headers, Values& values, model::DeliverPolicy& out) {
    std::set<std::string> seen;
    for (const Entry& entry : headers.get().entries) {
        const Field field{entry.value, headers.path + "." + entry.key};
        const std::string name = lower(entry.key);
        const auto fault = [&](const std::string& what, const std::string& hint) {
            values.faults().add(entry.place, ProblemCode::bad_value, "deliver.headers: " + quoted(entry.key) + " " + what,
                                hint);
        };
        if (!is_token(entry.key) || entry.key.size() > 255)
            fault("is no name of an HTTP header", "letters, digits and hyphens, at most 255");
        if (model::is_reserved_header(entry.key)) fault("is set by retryd itself", "another name, such as X-App-Token");
        if (!seen.insert(name).second) fault("stands twice, in different case", "HTTP does not tell them apart");
        const std::optional<std::string> text = values.text(field);
        if (!text) continue;
        const std::string trouble = value_trouble(*text);
        if (!trouble.empty()) values.fault(field, trouble, "printable ASCII");
        out.headers.emplace_back(entry.key, *text);
    }
}

// A number; or auto or {min, max}, within which it is found out.
void read_concurrency(const Field& field, Values& values, model::DeliverPolicy& out) {
    out.adaptive.reset();
    const bool limits = field.get().mapping();
    if (!limits && !field.get().word("auto")) return values.read(field, {1, most_at_once}, out.concurrency);
    auto& adaptive = out.adaptive.emplace();
    if (limits) {
        check_keys_of(field.get(), {"min", "max"}, field.path, values.faults());
        values.read(field.at("min"), {1, most_at_once}, adaptive.min);
        values.read(field.at("max"), {1, most_at_once}, adaptive.max);
        if (adaptive.min > adaptive.max)
            values.fault(field, "min (" + std::to_string(adaptive.min) + ") is over max (" + std::to_string(adaptive.max) + ")",
                         "{min: 1, max: 16}");
    }
    out.concurrency = adaptive.max;
}

}  // namespace

void read_deliver(const Field& deliver, Values& values, model::DeliverPolicy& out) {
    read_target(deliver, values, out.http);
    read_headers(deliver.at("headers"), values, out);
    values.read(deliver.at("timeout"), {1ms, model::hand_limit}, out.timeout);
    values.read(deliver.at("max_reply"), {ByteCount{1024}, ByteCount{16 * 1024 * 1024}}, out.max_reply);
    read_ready(deliver.at("ready"), values, out.ready);
    values.read(deliver.at("slow_start"), {1ms, 1h}, out.slow_start);
    read_rate(deliver.at("rate"), deliver.at("burst"), values, out.rate);
    read_concurrency(deliver.at("concurrency"), values, out);
}

}  // namespace retryd::policyfile
