#pragma once
// The operator's HTTP server, for Unix sockets and TCP, on the main loop.
//
// Protocol: construct, listen() for each address, stop() once. All on the thread that runs `io`. The tasks of a stopped
// server end in the next turns of `io`: run it until stopped() before `seen` dies.

#include "admin/routes.hpp"
#include "model/policy.hpp"
#include "model/problem.hpp"
#include "ports/operator.hpp"

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>

namespace boost::asio {
class io_context;
}

namespace retryd::admin {

struct ServerLimits {
    model::Milliseconds patience = std::chrono::seconds{5};  // for a whole request to come, and for an answer to be taken
    std::size_t connections = 32;                            // at once for each address; further ones wait to be accepted
};

class AdminServer {
public:
    // `seen` and what `metrics` reads outlive the server.
    AdminServer(boost::asio::io_context& io, ports::Operator& seen, MetricsText metrics, ServerLimits limits = ServerLimits());
    ~AdminServer();  // as stop()
    AdminServer(const AdminServer&) = delete;
    AdminServer& operator=(const AdminServer&) = delete;

    // The address that it listens on: as given, port 0 replaced by the one that the system chose.
    // `token` is asked for on it; empty: none. Fails as sockets::open_listening_socket does; what listened before goes on.
    [[nodiscard]] model::Result<model::ListenAddress> listen(const model::ListenAddress& address, ListenerKind kind,
                                                             std::string token = {});
    // Closes listeners and connections; removes our socket files. Said twice it changes nothing.
    void stop();
    [[nodiscard]] bool stopped() const;  // no task is left

private:
    struct Works;
    std::shared_ptr<Works> works_;
};

}  // namespace retryd::admin
