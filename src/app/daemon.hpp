#pragma once
// The running daemon: every room wired to the next, signals, the ways to end.

#include "admin/server.hpp"
#include "amqp/links.hpp"
#include "app/consumers.hpp"
#include "app/journal.hpp"
#include "app/main_loop.hpp"
#include "app/notify.hpp"
#include "app/spare_memory.hpp"
#include "engine/engine.hpp"
#include "model/policy.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>

#include <optional>

namespace retryd::app {

struct RunOptions {
    std::optional<model::Milliseconds> wait;  // for the broker at the start; nothing: without limit
    std::optional<model::Milliseconds> drain;
};

class Daemon {
public:
    Daemon(model::PolicyPtr policy, const RunOptions& options);
    // Runs until it has stopped; the exit code.
    [[nodiscard]] int run();

private:
    void warn_of_unverified_broker();
    [[nodiscard]] bool listen();  // false: an address of the policy can't be had, which is in the log
    [[nodiscard]] bool listen_on(const model::ListenAddress& address, admin::ListenerKind kind, model::LogLevel level);
    [[nodiscard]] bool listen_for_consumers();
    void await_signal();
    void on_signal(int number);
    void await_broker();
    void after_each_event();
    void look_for_an_end();
    void end(int exit_code);

    model::PolicyPtr policy_;
    RunOptions options_;
    DescriptorJournal journal_;
    boost::asio::io_context io_{1};
    MainLoop loop_;
    amqp::Links broker_;
    Consumers consumer_;
    engine::Engine engine_;
    admin::AdminServer admin_;
    Notify notify_;
    boost::asio::signal_set signals_;
    boost::asio::steady_timer patience_;
    SpareMemory spare_memory_;
    bool stopping_ = false;  // by a signal: the next one ends at once
    int exit_code_ = 0;
};

}  // namespace retryd::app
