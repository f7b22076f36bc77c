#include "admin/routes.hpp"

#include "sample.hpp"

#include <boost/json.hpp>
#include <catch2/catch.hpp>

#include <algorithm>
#include <string>

using namespace retryd;
using namespace retryd::admin;
using namespace std::chrono_literals;

namespace {

const Door admin_door{};
const Door metrics_door{.kind = ListenerKind::metrics, .tcp_host = "metrics.internal"};
const Door guarded_door{.tcp_host = "127.0.0.1", .token = "a-token-of-20-letters"};

std::string no_metrics() {
    return {};
}

Response ask(samples::Operator& seen, std::string_view method, std::string_view target, const Door& door = admin_door,
             std::string_view host = "localhost") {
    return respond({.method = method, .target = target, .host = host}, door, seen, [] { return std::string{"retryd_x 1\n"}; });
}

}  // namespace

TEST_CASE("each page answers on the listeners that it belongs to") {
    struct Row {
        std::string_view method, target;
        unsigned on_admin, on_metrics;
    };
    const auto row =
        GENERATE(Row{"GET", "/livez", 200, 200}, Row{"GET", "/readyz", 200, 200}, Row{"GET", "/flowz", 200, 200},
                 Row{"GET", "/metrics", 200, 200}, Row{"GET", "/status", 200, 404}, Row{"HEAD", "/status", 200, 404},
                 Row{"HEAD", "/livez", 200, 200}, Row{"GET", "/livez?verbose=1", 200, 200}, Row{"GET", "/", 404, 404},
                 Row{"GET", "", 404, 404}, Row{"GET", "/livez/", 404, 404}, Row{"GET", "//livez", 404, 404},
                 Row{"GET", "/livez.", 404, 404}, Row{"GET", "/%6civez", 404, 404}, Row{"GET", "/../etc/passwd", 404, 404},
                 Row{"POST", "/livez", 405, 405}, Row{"DELETE", "/status", 405, 404}, Row{"OPTIONS", "/metrics", 405, 405},
                 Row{"get", "/livez", 405, 405}, Row{"GET", "/drain", 405, 404}, Row{"HEAD", "/drain", 405, 404},
                 Row{"POST", "/drain", 415, 404}, Row{"POST", "/nowhere", 404, 404});
    CAPTURE(row.method, row.target);
    samples::Operator seen;
    CHECK(ask(seen, row.method, row.target).status == row.on_admin);
    CHECK(ask(seen, row.method, row.target, metrics_door).status == row.on_metrics);
}

TEST_CASE("a method that is not allowed is told which are") {
    samples::Operator seen;
    CHECK(ask(seen, "PUT", "/livez").allow == "GET, HEAD");
    CHECK(ask(seen, "GET", "/drain").allow == "POST");
    CHECK(ask(seen, "GET", "/livez").allow.empty());
}

TEST_CASE("livez speaks of retryd alone") {
    samples::Operator seen;
    seen.view.ready = false;
    seen.view.links = {};
    CHECK(ask(seen, "GET", "/livez").status == 200);
    CHECK(ask(seen, "GET", "/livez").body == "ok\n");
}

TEST_CASE("readyz names the links that are down") {
    samples::Operator seen;
    seen.view.ready = false;
    seen.view.links[0].up = false;
    seen.view.links[0].trouble = "connect: Connection refused";
    const Response response = ask(seen, "GET", "/readyz");
    CHECK(response.status == 503);
    CHECK(response.body == "not ready\nconsume link down: connect: Connection refused\n");
    seen.view.ready = true;  // a link that is lost again does not take a pod out of a load balancer
    CHECK(ask(seen, "GET", "/readyz").status == 200);
}

TEST_CASE("flowz has a line for each queue and cause") {
    samples::Operator seen;
    CHECK(ask(seen, "GET", "/flowz").body == "every queue flows\n");
    seen.view.queues = {samples::queue("bills"), samples::stalled_queue("orders")};
    seen.view.queues[1].stalls.push_back({model::Cause::draining, "", 1500ms});
    const Response response = ask(seen, "GET", "/flowz");
    CHECK(response.status == 503);
    CHECK(response.body ==
          "orders consumer-away 12 s: connect unix:/run/app.sock: No such file or directory\norders draining 1 s\n");
}

TEST_CASE("metrics come as they were handed in") {
    samples::Operator seen;
    const Response response = ask(seen, "GET", "/metrics");
    CHECK(response.body == "retryd_x 1\n");
    CHECK(response.content_type == "text/plain; version=0.0.4; charset=utf-8");
}

TEST_CASE("the status is JSON") {
    samples::Operator seen;
    const Response response = ask(seen, "GET", "/status");
    CHECK(response.content_type == "application/json");
    CHECK(boost::json::parse(response.body).at("queues").at(0).at("name").as_string() == "orders");
}

TEST_CASE("over TCP only our own names and address literals are answered") {
    samples::Operator seen;
    const Door local_metrics_door{.kind = ListenerKind::metrics, .tcp_host = "127.0.0.1"};
    for (const auto& door : {local_metrics_door, guarded_door}) {
        CHECK(ask(seen, "GET", "/livez", door, "localhost:9000").status == 200);
        CHECK(ask(seen, "GET", "/livez", door, "evil.example").status == 403);
        CHECK(ask(seen, "GET", "/livez", door, "").status == 403);
    }
}

TEST_CASE("metrics that others scrape are answered under whatever name they know us by") {
    samples::Operator seen;
    CHECK(ask(seen, "GET", "/metrics", metrics_door, "retryd.shop.svc:9419").status == 200);
    CHECK(ask(seen, "GET", "/livez", metrics_door, "").status == 200);
}

TEST_CASE("no text of a broker's and no name adds a line to a page") {
    samples::Operator seen;
    seen.view.ready = false;
    seen.view.queues[0].name.value = "orders\nlane";
    seen.view.queues[0].stalls = {{model::Cause::broker_down, "", 1s}};
    seen.view.links[0].up = false;
    seen.view.links[0].trouble = "320 closed\npublish link down\u202E";
    CHECK(ask(seen, "GET", "/readyz").body == "not ready\nconsume link down: 320 closed?publish link down?\n");
    CHECK(ask(seen, "GET", "/flowz").body == "orders?lane broker-down 1 s\n");
    CHECK(ask(seen, "GET", "/why-not?queue=x").body == "the policy has no such queue; it has orders?lane\n");
}

TEST_CASE("no text of a consumer's adds a line to a page") {
    samples::Operator seen;
    seen.view.queues[0].stalls = {{model::Cause::consumer_misconfigured, "l1\norders draining 1 s\x1b[2J", 1s}};
    const auto body = ask(seen, "GET", "/flowz").body;
    CHECK(std::count(body.begin(), body.end(), '\n') == 1);
    CHECK(body.find('\x1b') == std::string::npos);
}

TEST_CASE("over a Unix socket the Host header means nothing") {
    samples::Operator seen;
    CHECK(ask(seen, "GET", "/livez", admin_door, "evil.example").status == 200);
}

TEST_CASE("a web page is refused on every listener") {
    samples::Operator seen;
    for (const Door& door : {admin_door, metrics_door, guarded_door}) {
        const Request page{.method = "GET", .target = "/livez", .host = "localhost", .has_origin = true};
        CHECK(respond(page, door, seen, no_metrics).status == 403);
    }
}

TEST_CASE("a drain is asked for by a POST that says it is JSON, and answered with the status") {
    samples::Operator seen;
    Request request{.method = "POST", .target = "/drain", .content_type = "text/plain", .peer = "uid 7"};
    CHECK(respond(request, admin_door, seen, no_metrics).status == 415);
    CHECK(seen.drained_by.empty());
    request.content_type = "application/json; charset=utf-8";
    const Response response = respond(request, admin_door, seen, no_metrics);
    CHECK(response.status == 202);
    CHECK(boost::json::parse(response.body).at("draining").as_bool());
    CHECK(seen.drained_by == "uid 7");
}

TEST_CASE("why-not answers for a queue of the policy, and says which there are") {
    samples::Operator seen;
    CHECK(ask(seen, "GET", "/why-not").status == 400);
    CHECK(ask(seen, "GET", "/why-not?queue=bills").status == 404);
    CHECK(ask(seen, "GET", "/why-not?queue=bills").body == "the policy has no such queue; it has orders\n");
    const Response response = ask(seen, "GET", "/why-not?queue=%6frders");
    CHECK(response.status == 200);
    CHECK(boost::json::parse(response.body).at("flows").as_bool());
}

TEST_CASE("why answers for any id") {
    samples::Operator seen;
    CHECK(ask(seen, "GET", "/why").status == 400);
    CHECK(ask(seen, "GET", "/why?id=").status == 400);
    CHECK(boost::json::parse(ask(seen, "GET", "/why?id=a%20b").body).at("id").as_string() == "a b");
}

TEST_CASE("where a token is asked for, only the three health pages do without") {
    struct Row {
        std::string_view method, target;
        unsigned without, with;
    };
    const auto row =
        GENERATE(Row{"GET", "/livez", 200, 200}, Row{"GET", "/readyz", 200, 200}, Row{"GET", "/flowz", 200, 200},
                 Row{"POST", "/livez", 405, 405}, Row{"GET", "/metrics", 401, 200}, Row{"GET", "/status", 401, 200},
                 Row{"HEAD", "/status", 401, 200}, Row{"GET", "/why?id=1", 401, 200},
                 Row{"GET", "/why-not?queue=orders", 401, 200}, Row{"OPTIONS", "/status", 401, 405},
                 Row{"POST", "/drain", 401, 202}, Row{"GET", "/drain", 401, 405}, Row{"GET", "/nowhere", 401, 404},
                 Row{"GET", "/", 401, 404}, Row{"GET", "/livez/", 401, 404}, Row{"GET", "//livez", 401, 404},
                 Row{"GET", "/status.", 401, 404}, Row{"GET", "/ui/%2e%2e/%2e%2e/etc/passwd", 401, 404});
    CAPTURE(row.method, row.target);
    samples::Operator seen;
    Request request{.method = row.method, .target = row.target, .host = "127.0.0.1", .content_type = "application/json"};
    const Response refused = respond(request, guarded_door, seen, no_metrics);
    CHECK(refused.status == row.without);
    CHECK(refused.asks_for_token == (row.without == 401));
    CHECK(seen.drained_by.empty());
    request.authorization = "Bearer a-token-of-20-letters";
    CHECK(respond(request, guarded_door, seen, no_metrics).status == row.with);
}

TEST_CASE("a foreign Host is refused before a token is looked at") {
    samples::Operator seen;
    const Request request{
        .method = "GET", .target = "/status", .host = "evil.example", .authorization = "Bearer a-token-of-20-letters"};
    CHECK(respond(request, guarded_door, seen, no_metrics).status == 403);
}
