#include "admin/routes.hpp"

#include "sample.hpp"

#include <boost/json.hpp>
#include <catch2/catch.hpp>

#include <string>

using namespace retryd;
using namespace retryd::admin;
using namespace std::chrono_literals;

namespace {

const Door admin_door{ListenerKind::admin, ""};
const Door metrics_door{ListenerKind::metrics, "metrics.internal"};

Response ask(const samples::Operator& seen, std::string_view method, std::string_view target, const Door& door = admin_door,
             std::string_view host = "localhost") {
    return respond(Request{method, target, host, false}, door, seen, [] { return std::string{"retryd_x 1\n"}; });
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
                 Row{"get", "/livez", 405, 405}, Row{"POST", "/nowhere", 404, 404});
    CAPTURE(row.method, row.target);
    const samples::Operator seen;
    CHECK(ask(seen, row.method, row.target).status == row.on_admin);
    CHECK(ask(seen, row.method, row.target, metrics_door).status == row.on_metrics);
}

TEST_CASE("a method that is not allowed is told which are") {
    CHECK(ask(samples::Operator{}, "PUT", "/livez").allow == "GET, HEAD");
    CHECK(ask(samples::Operator{}, "GET", "/livez").allow.empty());
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
    const Response response = ask(samples::Operator{}, "GET", "/metrics");
    CHECK(response.body == "retryd_x 1\n");
    CHECK(response.content_type == "text/plain; version=0.0.4; charset=utf-8");
}

TEST_CASE("the status is JSON") {
    const Response response = ask(samples::Operator{}, "GET", "/status");
    CHECK(response.content_type == "application/json");
    CHECK(boost::json::parse(response.body).at("queues").at(0).at("name").as_string() == "orders");
}

TEST_CASE("over TCP only our own names and address literals are answered") {
    struct Row {
        std::string_view host;
        bool ours;
    };
    const auto row = GENERATE(
        Row{"localhost", true}, Row{"LocalHost:9000", true}, Row{"127.0.0.1:9000", true}, Row{"[::1]", true},
        Row{"[::1]:9000", true}, Row{"10.0.0.7:9000", true}, Row{"metrics.internal:9000", true}, Row{"evil.example", false},
        Row{"evil.example:9000", false}, Row{"localhost.evil.example", false}, Row{"", false}, Row{":9000", false},
        Row{"127.0.0.1.evil.example", false}, Row{"[::1", false}, Row{"[evil]", false}, Row{"[::1]x", false},
        Row{"localhost:", false}, Row{"localhost:99999", false}, Row{"localhost:80:80", false}, Row{"127.1", false});
    CAPTURE(row.host);
    CHECK(is_our_host(row.host, metrics_door) == row.ours);
    CHECK(ask(samples::Operator{}, "GET", "/livez", metrics_door, row.host).status == (row.ours ? 200U : 403U));
}

TEST_CASE("over a Unix socket the Host header means nothing") {
    CHECK(ask(samples::Operator{}, "GET", "/livez", admin_door, "evil.example").status == 200);
}

TEST_CASE("a web page is refused on every listener") {
    const samples::Operator seen;
    const auto metrics = [] { return std::string{}; };
    for (const Door& door : {admin_door, metrics_door}) {
        CHECK(respond(Request{"GET", "/livez", "localhost", true}, door, seen, metrics).status == 403);
    }
}
