// A request to the admin pages: whoever asks, what is answered is an answer, JSON where it says so; and nothing changes
// without the right to change it.

#include "admin/query.hpp"
#include "admin/routes.hpp"
#include "fuzz/input.hpp"
#include "fuzz/json.hpp"
#include "fuzz/operators.hpp"
#include "model/ledger.hpp"

using namespace retryd;
using fuzz::require;

namespace {

constexpr std::string_view token = "Zq7token";

void check_query(std::string_view value) {
    const auto target = "/why?id=" + admin::encoded(value);
    require(admin::parameter(target, "id") == value, "what is encoded is decoded");
    require(admin::path_of(target) == "/why", "and is no part of the path");
}

void check(const admin::Response& response) {
    require(response.status >= 200 && response.status <= 503, "an answer has a status");
    if (response.content_type == "application/json") static_cast<void>(fuzz::parsed(response.body));
    const bool is_page = response.content_type.starts_with("text/plain; charset");
    for (fuzz::Input in(reinterpret_cast<const std::uint8_t*>(response.body.data()), response.body.size());
         is_page && !in.empty();) {
        const auto line = in.line();
        require(model::cut_text(line, line.size()) == line, "a page holds nothing that is not shown as it is");
    }
    for (const auto text : {response.content_type, response.allow})
        require(text.find_first_of("\r\n") == std::string_view::npos, "no header of an answer is broken in two");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::Input in(data, size);
    const auto choice = in.number(1);
    fuzz::Operator daemon;
    daemon.view.queues.resize(1);
    daemon.view.queues[0].name.value = in.line();
    daemon.view.queues[0].stalls = {{model::Cause::unroutable, daemon.view.queues[0].name.value, std::chrono::seconds{1}}};
    daemon.view.links = {{"consume", false, false, "", daemon.view.queues[0].name.value}};
    const auto method = in.line();
    const auto target = in.line();
    const auto host = in.line();
    const auto content_type = in.line();
    const auto authorization = in.line();
    const admin::Request request{method, target, host, content_type, authorization, (choice & 1U) != 0, "uid 1000"};
    admin::Door door;
    if (choice & 2U) door.kind = admin::ListenerKind::metrics;
    if (choice & 4U) door.tcp_host = choice & 8U ? "127.0.0.1" : "retryd.example";
    if (choice & 16U) door.token = token;

    const auto response = admin::respond(request, door, daemon, [] { return std::string("up 1\n"); });
    check(response);
    check_query(target);
    const bool is_drain = admin::path_of(target) == "/drain";
    const bool may_change = method == "POST" && door.kind == admin::ListenerKind::admin && !request.has_origin &&
                            content_type.size() >= 16 &&
                            (door.token.empty() || authorization.find(token) != std::string_view::npos);
    require((daemon.drains == 0 && daemon.orders == 0) || may_change, "nothing changes without the right to change it");
    require(daemon.drains == 0 || is_drain, "only who asks for a drain gets one");
    require((response.status == 202) == (daemon.drains == 1), "and what changes is said");
    const bool health = target.starts_with("/livez") || target.starts_with("/readyz") || target.starts_with("/flowz");
    if (!door.token.empty() && authorization.find(token) == std::string_view::npos && !health)
        require(response.status >= 400, "without the token nothing but health is told");
    return 0;
}
