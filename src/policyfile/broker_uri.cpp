#include "policyfile/broker_uri.hpp"

#include "policyfile/addresses.hpp"

#include <algorithm>
#include <cctype>
#include <optional>

namespace retryd::policyfile {

using model::BrokerAddress;
using model::Problem;
using model::ProblemCode;
using model::Result;

namespace {

constexpr std::string_view rule =
    "amqp://USER:PASSWORD@HOST:PORT/VHOST; in each part write @ as %40, : as %3A, / as %2F, # as %23, ? as %3F, % as %25, \\ "
    "as %5C";

Problem wrong(std::string what) {
    return {ProblemCode::bad_value, {}, std::move(what), std::string(rule)};
}

int hex_value(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    const int lower = std::tolower(static_cast<unsigned char>(c));
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

// Nothing where a % is not followed by two hexadecimal digits, or where a zero byte or control character comes out.
std::optional<std::string> percent_decoded(std::string_view text) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        char c = text[i];
        if (c == '%') {
            if (i + 2 >= text.size()) return std::nullopt;
            const int high = hex_value(text[i + 1]);
            const int low = hex_value(text[i + 2]);
            if (high < 0 || low < 0) return std::nullopt;
            c = static_cast<char>(high * 16 + low);
            i += 2;
        }
        if (static_cast<unsigned char>(c) < 0x20) return std::nullopt;
        out += c;
    }
    return out;
}

// Takes the scheme off.
std::optional<Problem> read_scheme(std::string_view& uri, BrokerAddress& out) {
    const std::size_t end = uri.find("://");
    std::string scheme{uri.substr(0, end == std::string_view::npos ? 0 : end)};
    std::transform(scheme.begin(), scheme.end(), scheme.begin(), [](unsigned char c) { return std::tolower(c); });
    if (scheme != "amqp" && scheme != "amqps") return wrong("the broker URI does not begin with amqp:// or amqps://");
    out.tls = scheme == "amqps";
    out.port = out.tls ? 5671 : 5672;
    uri.remove_prefix(end + 3);
    return std::nullopt;
}

// Characters that shift the parts, or that nobody can have meant.
std::optional<Problem> unreadable(std::string_view uri) {
    if (uri.find_first_of("?#") != std::string_view::npos) return wrong("the broker URI has a ? or # in it; no query is read");
    const auto blank = [](unsigned char c) { return c <= 0x20 || c == 0x7F; };
    if (std::any_of(uri.begin(), uri.end(), blank)) return wrong("the broker URI has a space or a control character in it");
    if (uri.find('\\') != std::string_view::npos) return wrong("the broker URI has a \\ in it, which some read as /");
    return std::nullopt;
}

std::optional<Problem> read_host(std::string_view text, BrokerAddress& out) {
    const Result<HostPort> host = parse_host_port(text);
    if (!host) return wrong("the host part of the broker URI can't be read: " + host.error().what);
    out.host = host->host;
    out.port = host->port.value_or(out.port);
    return std::nullopt;
}

std::optional<Problem> read_user(std::string_view text, BrokerAddress& out) {
    const std::size_t colon = text.find(':');
    if (colon == std::string_view::npos) return wrong("the broker URI has a user without a password");
    const auto user = percent_decoded(text.substr(0, colon));
    const auto password = percent_decoded(text.substr(colon + 1));
    if (text.find(':', colon + 1) != std::string_view::npos) return wrong("the broker URI has a second : in its user part");
    if (!user || !password) return wrong("the broker URI has a % that begins no %XX, or a control character, in its user part");
    if (user->empty()) return wrong("the broker URI has an empty user");
    out.user = *user;
    out.password = *password;
    return std::nullopt;
}

std::optional<Problem> read_vhost(std::string_view text, BrokerAddress& out) {
    if (text.empty()) return std::nullopt;  // nothing after the slash is taken for the default one
    if (text.find('/') != std::string_view::npos) return wrong("the broker URI has a second / after the host");
    const auto vhost = percent_decoded(text);
    if (!vhost) return wrong("the broker URI has a % that begins no %XX, or a control character, in its vhost");
    if (vhost->size() > 255) return wrong("the broker URI has a vhost over 255 bytes");
    out.vhost = *vhost;
    return std::nullopt;
}

}  // namespace

Result<BrokerUri> parse_broker_uri(std::string_view uri) {
    BrokerUri out;
    if (auto problem = read_scheme(uri, out.address)) return *problem;
    if (auto problem = unreadable(uri)) return *problem;
    const std::size_t slash = std::min(uri.find('/'), uri.size());
    const std::string_view authority = uri.substr(0, slash);
    const std::size_t at = authority.rfind('@');
    if (at != authority.find('@')) return wrong("the broker URI has a second @");
    if (uri.find('@', slash) != std::string_view::npos) return wrong("the broker URI has an @ after its first /");
    out.names_user = at != std::string_view::npos;
    if (out.names_user) {
        if (auto problem = read_user(authority.substr(0, at), out.address)) return *problem;
    }
    if (auto problem = read_host(authority.substr(out.names_user ? at + 1 : 0), out.address)) return *problem;
    if (slash == uri.size()) return out;
    if (auto problem = read_vhost(uri.substr(slash + 1), out.address)) return *problem;
    return out;
}

std::string without_password(std::string_view uri) {
    const std::size_t slashes = uri.find("://");
    const std::size_t at = uri.rfind('@');
    if (slashes == std::string_view::npos || at == std::string_view::npos) return std::string(uri);
    const std::size_t colon = uri.find(':', slashes + 3);
    if (colon == std::string_view::npos || colon > at) return std::string(uri);
    return std::string(uri.substr(0, colon)) + ":***" + std::string(uri.substr(at));
}

}  // namespace retryd::policyfile
