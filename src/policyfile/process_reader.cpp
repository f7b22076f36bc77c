#include "policyfile/process_reader.hpp"

#include "policyfile/addresses.hpp"
#include "policyfile/broker_reader.hpp"
#include "policyfile/guards_reader.hpp"
#include "policyfile/queue_names.hpp"

#include <algorithm>

namespace retryd::policyfile {

using model::ByteCount;
using model::ListenAddress;
using model::LogFormat;
using model::LogLevel;
using model::Result;

namespace {

constexpr std::uint64_t kib = 1024;
constexpr std::uint64_t mib = 1024 * kib;
constexpr std::uint64_t gib = 1024 * mib;

std::string read_prefix(const Field& field, Values& values) {
    const std::optional<std::string> prefix = values.text(field);
    if (!prefix || prefix->empty()) return {};
    if (const auto trouble = queue_name_trouble(*prefix)) {
        values.fault(field, "not fit to begin a queue's name: " + trouble->what, trouble->hint);
    } else if (prefix->starts_with("amq.")) {
        values.fault(field, "names that begin with amq. belong to the broker", "such as retryd.");
    }
    return *prefix;
}

void read_sizes(const Field& root, Values& values, model::Policy& policy) {
    values.read(root.at("max_body"), {ByteCount{kib}, ByteCount{512 * mib}}, policy.max_body);
    values.read(root.at("memory"), {ByteCount{mib}, ByteCount{1024 * gib}}, policy.memory);
    if (policy.memory >= policy.max_body) return;
    const Field& later = root.at("memory").built_in() ? root.at("max_body") : root.at("memory");
    values.fault(later, "memory (" + to_text(policy.memory) + ") is less than max_body (" + to_text(policy.max_body) + ")",
                 "the largest message must fit");
}

constexpr std::size_t shortest_token = 16;

bool is_token_letter(char c) {
    return c > ' ' && c < 0x7F;
}

std::string read_token(const Field& field, Values& values) {
    const std::optional<std::string> token = values.file(field);
    if (!token) return {};
    if (token->size() < shortest_token || !std::all_of(token->begin(), token->end(), is_token_letter)) {
        values.fault(field, Values::shown(field) + " holds no token",
                     "one line of at least 16 visible ASCII characters without a space, as `openssl rand -hex 32` makes it");
        return {};
    }
    return *token;
}

// An admin address over TCP: `guarded` where the policy has a token for it.
void read_admin_tcp(const Field& item, bool guarded, const std::string& text, Values& values, std::vector<ListenAddress>& out) {
    const Result<ListenAddress> address = parse_tcp_listen(text);
    if (!address) {
        values.fault(item, Values::shown(item) + ": " + address.error().what,
                     "unix:/run/retryd/admin.sock, or HOST:PORT with admin.token_file");
        return;
    }
    if (!guarded)
        values.fault(item, Values::shown(item) + ": over TCP a token is needed",
                     "admin.token_file: the path of a file that holds it");
    if (is_wildcard(*address))
        values.faults().warn(
            item.get().place,
            item.path + ": " + Values::shown(item) + " listens on every interface, and the token is sent in clear",
            "127.0.0.1 where only this host asks");
    out.push_back(*address);
}

void read_admin(const Field& field, bool guarded, Values& values, std::optional<std::vector<ListenAddress>>& out) {
    if (field.absent()) return;
    out.emplace();
    if (field.off()) return;
    for (const Field& item : values.one_or_more(field)) {
        const std::optional<std::string> text = values.text(item);
        if (!text) continue;
        if (!text->starts_with("unix:")) {
            read_admin_tcp(item, guarded, *text, values, *out);
            continue;
        }
        const Result<std::string> path = parse_socket_path(std::string_view(*text).substr(5));
        if (path) {
            out->push_back({*path, {}, 0});
        } else {
            values.fault(item, path.error().what, path.error().hint);
        }
    }
}

void read_metrics(const Field& field, Values& values, std::vector<ListenAddress>& out) {
    if (field.off()) return;
    for (const Field& item : values.one_or_more(field)) {
        const std::optional<std::string> text = values.text(item);
        if (!text) continue;
        const Result<ListenAddress> address = parse_tcp_listen(*text);
        if (!address) {
            values.fault(item, Values::shown(item) + ": " + address.error().what, address.error().hint);
            continue;
        }
        out.push_back(*address);
        if (!is_wildcard(*address)) continue;
        values.faults().warn(item.get().place,
                             item.path + ": " + Values::shown(item) + " listens on every interface, without a token",
                             "127.0.0.1 where only this host asks");
    }
}

}  // namespace

std::string read_process(const Sections& sections, Values& values, model::Policy& policy) {
    const Field root{sections.process, ""};
    read_broker(root.at("broker"), sections.start, values, policy.broker);
    read_sizes(root, values, policy);
    const Field token_file = root.at("admin").at("token_file");
    policy.admin_token = read_token(token_file, values);
    read_admin(root.at("admin").at("listen"), !token_file.absent(), values, policy.admin);
    read_metrics(root.at("metrics").at("listen"), values, policy.metrics);
    values.choose<LogLevel>(
        root.at("log").at("level"),
        {{"debug", LogLevel::debug}, {"info", LogLevel::info}, {"warn", LogLevel::warn}, {"error", LogLevel::error}},
        policy.log_level);
    values.choose<LogFormat>(root.at("log").at("format"),
                             {{"auto", LogFormat::automatic}, {"json", LogFormat::json}, {"text", LogFormat::text}},
                             policy.log_format);
    read_dependencies(root.at("dependencies"), values, policy.dependencies);
    return read_prefix(root.at("names").at("prefix"), values);
}

}  // namespace retryd::policyfile
