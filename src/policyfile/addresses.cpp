#include "policyfile/addresses.hpp"

#include "policyfile/scalars.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <cctype>

namespace retryd::policyfile {

using model::HttpTarget;
using model::ListenAddress;
using model::Problem;
using model::ProblemCode;
using model::Result;

namespace {

constexpr std::string_view http_rule = "http://127.0.0.1:8080/path, or unix:/run/app/app.sock with path: beside it";

Problem wrong(std::string what, std::string_view hint = {}) {
    return {ProblemCode::bad_value, {}, std::move(what), std::string(hint)};
}

bool is_address(int family, std::string_view text) {
    std::array<unsigned char, sizeof(in6_addr)> parsed{};
    return ::inet_pton(family, std::string(text).c_str(), parsed.data()) == 1;
}

bool is_label(std::string_view label) {
    const auto fits = [](unsigned char c) { return c < 0x80 && (std::isalnum(c) != 0 || c == '-' || c == '_'); };
    return !label.empty() && label.size() <= 63 && std::all_of(label.begin(), label.end(), fits);
}

// Labels between dots; a dot may end it. What looks like an IPv4 address must be one: the resolver reads 10.1 as 10.0.0.1.
bool is_name(std::string_view host) {
    if (host.empty() || host.size() > 253) return false;
    if (host.find_first_not_of("0123456789.") == std::string_view::npos) return is_address(AF_INET, host);
    if (host.ends_with('.')) host.remove_suffix(1);
    for (;;) {
        const std::size_t dot = host.find('.');
        if (!is_label(host.substr(0, dot))) return false;
        if (dot == std::string_view::npos) return true;
        host.remove_prefix(dot + 1);
    }
}

bool is_ipv6(std::string_view host) {
    return is_address(AF_INET6, host);
}

// With or without a port behind it.
bool looks_like_ipv6(std::string_view text) {
    const auto fits = [](unsigned char c) { return std::isxdigit(c) != 0 || c == ':' || c == '.'; };
    return std::count(text.begin(), text.end(), ':') >= 2 && std::all_of(text.begin(), text.end(), fits);
}

Result<std::uint16_t> parse_port(std::string_view text) {
    const Result<std::uint64_t> port = parse_integer(text);
    if (!port) return wrong("its port " + port.error().what, "a port is a number from 1 to 65535");
    if (*port < 1 || *port > 65535) return wrong("its port is out of range", "a port is a number from 1 to 65535");
    return static_cast<std::uint16_t>(*port);
}

// What begins after the host and port of a URL.
std::size_t authority_length(std::string_view text) {
    return std::min(text.find_first_of("/?#"), text.size());
}

}  // namespace

Result<HostPort> parse_host_port(std::string_view text) {
    HostPort out;
    std::string_view rest;
    if (text.starts_with('[')) {
        const std::size_t end = text.find(']');
        if (end == std::string_view::npos)
            return wrong("its [ is not closed", "an IPv6 address stands in brackets: [::1]:5672");
        out.host = text.substr(1, end - 1);
        out.brackets = true;
        rest = text.substr(end + 1);
        if (out.host.find('%') != std::string::npos)
            return wrong("an IPv6 address with a zone is not taken", "an address that is the same from everywhere");
        if (!is_ipv6(out.host)) return wrong("what stands in brackets is not an IPv6 address", "such as [::1]:5672");
    } else {
        const std::size_t colon = std::min(text.find(':'), text.size());
        out.host = text.substr(0, colon);
        rest = text.substr(colon);
        if (looks_like_ipv6(text)) return wrong("an IPv6 address stands without brackets", "write [::1]:5672");
        if (out.host.empty()) return wrong("it has no host", "such as 127.0.0.1");
        if (!is_name(out.host)) return wrong("its host is no name or address", "letters, digits, dots and hyphens");
    }
    if (rest.empty()) return out;
    if (rest[0] != ':') return wrong("something unknown follows the ]", "such as [::1]:5672");
    const Result<std::uint16_t> port = parse_port(rest.substr(1));
    if (!port) return port.error();
    out.port = *port;
    return out;
}

bool is_host(std::string_view text) {
    return is_name(text) || is_ipv6(text);
}

Result<std::string> parse_socket_path(std::string_view path) {
    if (!path.starts_with('/')) return wrong("the path of a Unix socket is not absolute", "unix:/run/app/app.sock");
    if (path.size() > longest_socket_path)
        return wrong("the path of a Unix socket is longer than 107 bytes", "the system allows no more");
    const bool control = std::any_of(path.begin(), path.end(), [](unsigned char c) { return c < 0x20 || c == 0x7F; });
    if (control) return wrong("the path of a Unix socket has a control character");
    return std::string(path);
}

std::optional<Problem> request_path_trouble(std::string_view path) {
    static constexpr std::string_view unfit = "\"<>\\^`{|}#";
    if (!path.starts_with('/')) return wrong("the path does not begin with /", "such as /orders");
    const auto bad = [](unsigned char c) {
        return c <= 0x20 || c >= 0x7F || unfit.find(static_cast<char>(c)) != std::string_view::npos;
    };
    if (std::any_of(path.begin(), path.end(), bad)) {
        return wrong("the path has a character that no request line may have", "write spaces and the like as %20");
    }
    if (path.size() > 2048) return wrong("the path is longer than 2048 bytes");
    return std::nullopt;
}

Result<HttpTarget> parse_http_target(std::string_view text) {
    HttpTarget target;
    if (text.starts_with("unix:")) {
        Result<std::string> path = parse_socket_path(text.substr(5));
        if (!path) return path.error();
        target.unix_path = *path;
        target.host = "localhost";
        return target;
    }
    if (text.starts_with("https:")) return wrong("https is not spoken here: the consumer is local", http_rule);
    if (!text.starts_with("http://")) return wrong("is no address of a consumer", http_rule);
    text.remove_prefix(7);
    const std::string_view authority = text.substr(0, authority_length(text));
    const std::string_view rest = text.substr(authority.size());
    if (authority.find('@') != std::string_view::npos) return wrong("has a user in it", "send credentials by deliver.headers");
    const Result<HostPort> host = parse_host_port(authority);
    if (!host) return wrong(host.error().what, http_rule);
    target.tcp_host = host->host;
    target.tcp_port = host->port.value_or(80);
    target.host = host->brackets ? "[" + host->host + "]" : host->host;
    if (target.tcp_port != 80) target.host += ":" + std::to_string(target.tcp_port);
    if (rest.empty()) return target;
    target.path = rest.starts_with('?') ? "/" + std::string(rest) : std::string(rest);
    if (auto trouble = request_path_trouble(target.path)) return *trouble;
    return target;
}

Result<std::string> parse_stream_address(std::string_view text) {
    if (!text.starts_with("unix:")) return wrong("is no address of a stream", "unix:/run/retryd/{queue}.sock");
    return parse_socket_path(text.substr(5));
}

Result<ListenAddress> parse_tcp_listen(std::string_view text) {
    const Result<HostPort> host = parse_host_port(text);
    if (!host) return wrong(host.error().what, "write HOST:PORT, such as 127.0.0.1:9090");
    if (!host->port) return wrong("it has no port", "write HOST:PORT, such as 127.0.0.1:9090");
    return ListenAddress{{}, host->host, *host->port};
}

bool is_wildcard(const ListenAddress& address) {
    return address.unix_path.empty() && (address.tcp_host == "0.0.0.0" || address.tcp_host == "::");
}

}  // namespace retryd::policyfile
