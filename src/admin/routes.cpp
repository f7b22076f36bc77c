#include "admin/routes.hpp"

#include "admin/access.hpp"
#include "admin/orders.hpp"
#include "admin/query.hpp"
#include "admin/status_json.hpp"
#include "admin/why.hpp"
#include "admin/why_not.hpp"
#include "admin/wording.hpp"

#include <algorithm>
#include <array>

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
                .append(link.trouble.empty() ? "connecting" : clean(link.trouble));
    }
    return text(503, body);
}

Response flowz(const model::StatusView& status) {
    std::string body;
    for (const model::QueueView& queue : status.queues) {
        for (const model::StallView& stall : queue.stalls) {
            body += clean(queue.name.value) + " ";
            body.append(model::to_text(stall.cause)).append(" " + span_text(stall.lasting));
            body += (stall.detail.empty() ? "" : ": " + clean(stall.detail)) + "\n";
        }
    }
    return body.empty() ? text(200, "every queue flows") : Response{503, body};
}

Response metrics_page(const MetricsText& metrics) {
    return Response{200, metrics(), "text/plain; version=0.0.4; charset=utf-8"};
}

Response json(unsigned status, std::string body) {
    return Response{status, std::move(body) + "\n", "application/json"};
}

Response drain(const Request& request, ports::Operator& seen) {
    seen.drain(request.peer);
    return json(202, to_json(seen.status()));
}

Response obey(const Request& request, ports::Operator& seen) {
    const auto order = order_in(request.target);
    if (!order) return text(400, order.error().what);
    if (seen.obey(*order, request.peer)) return json(200, order_page(*order, seen.status()));
    return text(404, "there is no " + clean(order->target) + "; there are " + names_for(*order, seen.status()));
}

Response why_not_page(std::string_view target, const model::StatusView& status) {
    const auto name = parameter(target, "queue");
    if (!name) return text(400, "say which queue: /why-not?queue=NAME");
    std::string known;
    for (const model::QueueView& queue : status.queues) {
        if (queue.name.value == *name) return json(200, to_json(why_not(queue, status.at)));
        known += (known.empty() ? "" : ", ") + clean(queue.name.value);
    }
    return text(404, "the policy has no such queue; it has " + known);
}

Response why_page(std::string_view target, const ports::Operator& seen) {
    const auto id = parameter(target, "id");
    if (!id || id->empty()) return text(400, "say which message: /why?id=MESSAGE-ID");
    return json(200, to_json(seen.why(*id)));
}

enum class Page : std::uint8_t { livez, readyz, flowz, metrics, status, why_not, why, breakers, drain, order };
enum class Right : std::uint8_t {
    none,     // everybody may
    reading,  // on a metrics listener everybody, on an admin listener whoever has its token
    admin,    // on an admin listener only
};
struct Route {
    std::string_view path;
    Page page;
    Right right;
    bool changes = false;  // POST, with JSON; else GET and HEAD
};
constexpr std::array routes{Route{"/livez", Page::livez, Right::none},
                            Route{"/readyz", Page::readyz, Right::none},
                            Route{"/flowz", Page::flowz, Right::none},
                            Route{"/metrics", Page::metrics, Right::reading},
                            Route{"/status", Page::status, Right::admin},
                            Route{"/why-not", Page::why_not, Right::admin},
                            Route{"/why", Page::why, Right::admin},
                            Route{"/breakers", Page::breakers, Right::admin},
                            Route{"/drain", Page::drain, Right::admin, true},
                            Route{"/breaker", Page::order, Right::admin, true},
                            Route{"/pause", Page::order, Right::admin, true},
                            Route{"/resume", Page::order, Right::admin, true},
                            Route{"/throttle", Page::order, Right::admin, true}};

const Route* route_of(std::string_view target, ListenerKind kind) {
    const auto fits = [&](const Route& route) {
        return route.path == path_of(target) && (kind == ListenerKind::admin || route.right != Right::admin);
    };
    const auto* const found = std::find_if(routes.begin(), routes.end(), fits);
    return found == routes.end() ? nullptr : found;
}

Response refuse_method(const Route& route) {
    Response refusal = text(405, route.changes ? "only POST" : "only GET and HEAD");
    refusal.allow = route.changes ? "POST" : "GET, HEAD";
    return refusal;
}

bool fits_method(const Route& route, std::string_view method) {
    return route.changes ? method == "POST" : method == "GET" || method == "HEAD";
}

Response answer(const Route& route, const Request& request, ports::Operator& seen, const MetricsText& metrics) {
    switch (route.page) {
        case Page::livez: return livez();
        case Page::readyz: return readyz(seen.status());
        case Page::flowz: return flowz(seen.status());
        case Page::metrics: return metrics_page(metrics);
        case Page::status: return json(200, to_json(seen.status()));
        case Page::why_not: return why_not_page(request.target, seen.status());
        case Page::why: return why_page(request.target, seen);
        case Page::breakers: return json(200, breakers_page(seen.status()));
        case Page::drain: return drain(request, seen);
        case Page::order: return obey(request, seen);
    }
    return text(404, "no such page");
}

// What web pages can reach through a name of their own: whatever is ours alone, by right or by its address. Metrics that
// others scrape are asked for by whatever name they know us under.
bool minds_the_host(const Door& door) {
    if (door.tcp_host.empty()) return false;
    return door.kind == ListenerKind::admin || is_loopback(door.tcp_host);
}

}  // namespace

Response respond(const Request& request, const Door& door, ports::Operator& seen, const MetricsText& metrics) {
    if (request.has_origin) return text(403, "requests of web pages are not answered");
    if (minds_the_host(door) && !is_our_host(request.host, door.tcp_host)) {
        return text(403, "the Host header must be localhost, an address, or the name that retryd listens as");
    }
    const Route* const route = route_of(request.target, door.kind);
    const bool open = route != nullptr && route->right == Right::none;
    if (!open && !door.token.empty() && !bears_token(request.authorization, door.token)) {
        Response refusal = text(401, "say the token of admin.token_file: Authorization: Bearer TOKEN");
        refusal.asks_for_token = true;
        return refusal;
    }
    if (route == nullptr) return text(404, "no such page");
    if (!fits_method(*route, request.method)) return refuse_method(*route);
    if (route->changes && !is_json(request.content_type)) return text(415, "say Content-Type: application/json");
    return answer(*route, request, seen, metrics);
}

}  // namespace retryd::admin
