#include "admin/access.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string>

namespace retryd::admin {
namespace {

template <class Address>
bool is_literal(int family, const std::string& text) {
    Address address{};
    return ::inet_pton(family, text.c_str(), &address) == 1;
}

bool is_port(std::string_view text) {
    std::uint16_t port = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
    return error == std::errc{} && end == text.data() + text.size();
}

char lowered(char letter) {
    return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
}

bool equals_ignoring_case(std::string_view one, std::string_view other) {
    return std::equal(one.begin(), one.end(), other.begin(), other.end(),
                      [](char a, char b) { return lowered(a) == lowered(b); });
}

std::string_view trimmed(std::string_view text) {
    while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
    while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
    return text;
}

// Looks at every byte of `given`, whatever differs; only its own length can be told from the time.
bool equals_in_constant_time(std::string_view given, std::string_view secret) {
    unsigned difference = given.size() == secret.size() ? 0 : 1;
    for (std::size_t i = 0; i < given.size(); ++i) {
        const char other = secret[i % secret.size()];
        difference |= static_cast<unsigned char>(given[i]) ^ static_cast<unsigned char>(other);
    }
    return difference == 0;
}

}  // namespace

bool is_our_host(std::string_view host_header, std::string_view own_name) {
    std::string_view host = host_header;
    if (!host.empty() && host.front() == '[') {
        const std::size_t end = host.find(']');
        if (end == std::string_view::npos) return false;
        const std::string_view rest = host.substr(end + 1);
        const bool port_is_fine = rest.empty() || (rest.front() == ':' && is_port(rest.substr(1)));
        return port_is_fine && is_literal<in6_addr>(AF_INET6, std::string{host.substr(1, end - 1)});
    }
    if (const std::size_t colon = host.find(':'); colon != std::string_view::npos) {
        if (!is_port(host.substr(colon + 1))) return false;
        host = host.substr(0, colon);
    }
    if (host.empty()) return false;
    return equals_ignoring_case(host, "localhost") || equals_ignoring_case(host, own_name) ||
           is_literal<in_addr>(AF_INET, std::string{host});
}

bool is_loopback(std::string_view host) {
    const bool is_127 = host.starts_with("127.") && is_literal<in_addr>(AF_INET, std::string{host});
    return is_127 || host == "::1" || equals_ignoring_case(host, "localhost");
}

bool bears_token(std::string_view authorization, std::string_view token) {
    const std::size_t space = authorization.find(' ');
    if (token.empty() || space == std::string_view::npos) return false;
    if (!equals_ignoring_case(authorization.substr(0, space), "Bearer")) return false;
    return equals_in_constant_time(trimmed(authorization.substr(space)), token);
}

bool is_json(std::string_view content_type) {
    return equals_ignoring_case(trimmed(content_type.substr(0, content_type.find(';'))), "application/json");
}

}  // namespace retryd::admin
