#include "admin/routes.hpp"

#include "admin/status_json.hpp"
#include "admin/wording.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <charconv>
#include <cstdint>

namespace retryd::admin {
namespace {

Response text(unsigned status, std::string body) {
    return Response{status, std::move(body) + "\n"};
}

Response livez() {
    return text(200, "ok");
}

Response readyz(const model::StatusView& status) {
    if (status.ready) return text(200, "ready");
    std::string body = "not ready";
    for (const model::LinkView& link : status.links) {
        if (!link.up)
            body.append("\n")
                .append(link.name)
                .append(" link down: ")
                .append(link.trouble.empty() ? "connecting" : link.trouble);
    }
    return text(503, body);
}

Response flowz(const model::StatusView& status) {
    std::string body;
    for (const model::QueueView& queue : status.queues) {
        for (const model::StallView& stall : queue.stalls) {
            body += queue.name.value + " ";
            body.append(model::to_text(stall.cause)).append(" " + span_text(stall.lasting));
            body += (stall.detail.empty() ? "" : ": " + stall.detail) + "\n";
        }
    }
    return body.empty() ? text(200, "every queue flows") : Response{503, body};
}

Response metrics_page(const MetricsText& metrics) {
    return Response{200, metrics(), "text/plain; version=0.0.4; charset=utf-8"};
}

Response status_page(const model::StatusView& status) {
    return Response{200, to_json(status) + "\n", "application/json"};
}

enum class Page : std::uint8_t { none, livez, readyz, flowz, metrics, status };

Page page_of(std::string_view target, ListenerKind kind) {
    const std::string_view path = target.substr(0, target.find('?'));
    if (path == "/livez") return Page::livez;
    if (path == "/readyz") return Page::readyz;
    if (path == "/flowz") return Page::flowz;
    if (path == "/metrics") return Page::metrics;
    if (path == "/status" && kind == ListenerKind::admin) return Page::status;
    return Page::none;
}

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

}  // namespace

bool is_our_host(std::string_view host_header, const Door& door) {
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
    return equals_ignoring_case(host, "localhost") || equals_ignoring_case(host, door.tcp_host) ||
           is_literal<in_addr>(AF_INET, std::string{host});
}

Response respond(const Request& request, const Door& door, const ports::Operator& seen, const MetricsText& metrics) {
    if (request.has_origin) return text(403, "requests of web pages are not answered");
    if (!door.tcp_host.empty() && !is_our_host(request.host, door)) {
        return text(403, "the Host header must be localhost, an address, or the name that retryd listens as");
    }
    const Page page = page_of(request.target, door.kind);
    if (page == Page::none) return text(404, "no such page");
    if (request.method != "GET" && request.method != "HEAD") {
        Response refusal = text(405, "only GET and HEAD");
        refusal.allow = "GET, HEAD";
        return refusal;
    }
    switch (page) {
        case Page::none: break;
        case Page::livez: return livez();
        case Page::readyz: return readyz(seen.status());
        case Page::flowz: return flowz(seen.status());
        case Page::metrics: return metrics_page(metrics);
        case Page::status: return status_page(seen.status());
    }
    return text(404, "no such page");
}

}  // namespace retryd::admin
