#include "app/daemon.hpp"

#include "admin/address.hpp"
#include "metrics/prometheus_text.hpp"

#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <random>
#include <utility>

namespace retryd::app {

namespace {

constexpr int exit_stopped = 0;
constexpr int exit_policy = 1;
constexpr int exit_no_broker = 3;
constexpr int exit_refused = 4;

std::string host_name() {
    char name[256] = {};
    return gethostname(name, sizeof name - 1) == 0 ? name : "localhost";
}

std::uint64_t random_seed() {
    std::random_device device;
    return std::uint64_t{device()} << 32U | device();
}

engine::Options engine_options(const RunOptions& options) {
    return {.host = host_name(), .version = RETRYD_VERSION, .drain = options.drain, .seed = random_seed()};
}

std::string to_text(const model::ListenAddress& address) {
    if (!address.unix_path.empty()) return "unix:" + address.unix_path;
    return address.tcp_host + ":" + std::to_string(address.tcp_port);
}

}  // namespace

Daemon::Daemon(model::PolicyPtr policy, const RunOptions& options)
    : policy_(std::move(policy)),
      options_(options),
      journal_(STDERR_FILENO, policy_->log_level, policy_->log_format),
      loop_(io_),
      broker_(policy_->broker, io_, loop_, {"retryd@" + host_name(), RETRYD_VERSION}),
      consumer_(io_, *policy_, loop_, journal_),
      engine_(policy_, {broker_, consumer_, loop_, journal_}, engine_options(options)),
      admin_(io_, loop_, [this] { return metrics::to_prometheus_text(loop_.figures(), loop_.status()); }),
      notify_(io_),
      signals_(io_),
      patience_(io_),
      spare_memory_(give_free_memory_back) {
    loop_.attach(engine_, [this] { after_each_event(); });
}

int Daemon::run() {
    std::signal(SIGPIPE, SIG_IGN);
    std::signal(SIGCHLD, SIG_IGN);  // it starts no process, but as PID 1 it inherits those of others: none stays a zombie
    for (const int number : {SIGTERM, SIGINT, SIGHUP}) signals_.add(number);
    await_signal();
    warn_of_unverified_broker();
    loop_.start();
    if (!listen()) return exit_policy;
    notify_.ready();
    if (options_.wait) await_broker();
    io_.run();
    return exit_code_;
}

void Daemon::warn_of_unverified_broker() {
    if (policy_->broker.tls.verify) return;
    const char* const what = "broker.tls.verify is false: whoever answers is believed to be the broker and gets the password";
    journal_.record({model::LogLevel::warn, "broker_not_verified", {{"why", what}}});
}

bool Daemon::listen() {
    if (policy_->admin) {
        for (const auto& address : *policy_->admin)
            if (!listen_on(address, admin::ListenerKind::admin, model::LogLevel::error)) return false;
    } else {
        model::ListenAddress standard;
        standard.unix_path = admin::socket_to_open(admin::runtime_places());
        (void)listen_on(standard, admin::ListenerKind::admin, model::LogLevel::warn);  // its absence stops nothing else
    }
    for (const auto& address : policy_->metrics)
        if (!listen_on(address, admin::ListenerKind::metrics, model::LogLevel::error)) return false;
    return listen_for_consumers();
}

bool Daemon::listen_for_consumers() {
    for (std::uint32_t i = 0; i < policy_->queues.size(); ++i) {
        const auto& stream = policy_->queues[i].deliver.stream;
        if (!stream) continue;
        const auto listening = consumer_.listen({i});
        if (!listening) {
            const auto why = model::to_text(listening.error());
            journal_.record(
                {model::LogLevel::error, "not_listening", {{"address", "unix:" + stream->unix_path}, {"why", why}}});
            return false;
        }
        journal_.record({model::LogLevel::info, "listening", {{"address", "unix:" + stream->unix_path}}});
    }
    return true;
}

bool Daemon::listen_on(const model::ListenAddress& address, admin::ListenerKind kind, model::LogLevel level) {
    const bool guarded = kind == admin::ListenerKind::admin && address.unix_path.empty();
    const auto listening = admin_.listen(address, kind, guarded ? policy_->admin_token : std::string{});
    if (listening) {
        journal_.record({model::LogLevel::info, "listening", {{"address", to_text(*listening)}}});
    } else {
        journal_.record({level, "not_listening", {{"address", to_text(address)}, {"why", model::to_text(listening.error())}}});
    }
    return listening.has_value();
}

void Daemon::await_signal() {
    signals_.async_wait([this](const boost::system::error_code& error, int number) {
        if (error) return;
        on_signal(number);
        await_signal();
    });
}

void Daemon::on_signal(int number) {
    if (number == SIGHUP) {
        journal_.record({model::LogLevel::warn, "reload_not_supported", {{"hint", "restart to apply a changed policy"}}});
        return;
    }
    if (std::exchange(stopping_, true)) {
        journal_.record({model::LogLevel::warn, "ended_at_once", {}});
        admin_.stop();
        std::_Exit(exit_stopped);  // the broker keeps what was not settled
    }
    notify_.stopping();
    loop_.stop(number == SIGINT ? "SIGINT" : "SIGTERM");
}

void Daemon::await_broker() {
    patience_.expires_after(*options_.wait);
    patience_.async_wait([this](const boost::system::error_code& error) {
        if (error || engine_.broker_seen()) return;
        journal_.record({model::LogLevel::error, "no_broker", {{"waited_ms", std::to_string(options_.wait->count())}}});
        end(exit_no_broker);
    });
}

void Daemon::after_each_event() {
    spare_memory_.in_hand(engine_.bytes_in_hand());
    look_for_an_end();
}

void Daemon::look_for_an_end() {
    if (engine_.stopped()) end(exit_stopped);
    if (options_.wait && engine_.refused()) end(exit_refused);
}

void Daemon::end(int exit_code) {
    exit_code_ = exit_code;
    admin_.stop();
    io_.stop();
}

}  // namespace retryd::app
