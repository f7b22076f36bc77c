#include "amqp/link.hpp"

#include <boost/asio/post.hpp>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>
#include <variant>

namespace retryd::amqp {

namespace asio = boost::asio;

namespace {

constexpr auto pulse_interval = std::chrono::seconds{1};
constexpr std::uint64_t busy_bytes = 4096;  // in a pulse: more than heartbeats and confirms of a quiet link
// Longer than the pump's own bound, which holds unless its thread is stuck.
constexpr auto close_must_be_over = std::chrono::seconds{6};

// The pump is told what was taken in portions: of a trickle it need not know.
constexpr std::size_t told_at_once = 1024 * 1024;

const char* name_of(ports::Link link) {
    return link == ports::Link::consume ? "amqp-consume" : "amqp-publish";
}

}  // namespace

Link::Link(ports::Link link, const model::BrokerPolicy& policy, const Introduction& introduction, asio::io_context& main,
           ports::Inbox& inbox)
    : which_(link),
      main_(main),
      inbox_(inbox),
      pulse_(main),
      last_resort_(main),
      pump_(link, policy, introduction, exit_, [this](Events& events) { hand_over(events); }),
      thread_(name_of(link), [this] { pump_.run(); }) {}

Link::~Link() {
    pump_.context().stop();
    exit_.pull();
}

void Link::connect(std::size_t address) {
    state_ = State::connecting;
    closes_seen_ = 0;
    exit_.close();
    asio::post(pump_.context(), [this, address] { pump_.connect(address); });
    ask_for_life();
    feel_pulse_in_a_second();
}

void Link::ask_for_life() {
    answered_ = false;
    asio::post(pump_.context(), [this] {
        asio::post(main_, [this, alive = watched_] {
            if (!alive.expired()) answered_ = true;
        });
    });
}

void Link::feel_pulse_in_a_second() {
    pulse_.expires_after(pulse_interval);
    pulse_.async_wait([this](boost::system::error_code error) {
        if (!error && state_ != State::down) feel_pulse();
    });
}

void Link::feel_pulse() {
    const auto now = exit_.traffic();
    const auto before = std::exchange(traffic_, now);
    const bool progress = now.acknowledged != before.acknowledged;
    const bool busy = now.acknowledged - before.acknowledged >= busy_bytes || now.received - before.received >= busy_bytes;
    pulses_.assign(1, ports::LinkPulse{which_, answered_ || progress, busy});
    if (answered_) ask_for_life();
    feel_pulse_in_a_second();
    inbox_.broker_events(pulses_);
}

void Link::disconnect() {
    if (state_ == State::down) return;
    exit_.pull();
    asio::post(pump_.context(), [this] { pump_.disconnect(); });
}

void Link::close() {
    if (state_ == State::down) return;
    asio::post(pump_.context(), [this] { pump_.close(); });
    last_resort_.expires_after(close_must_be_over);
    last_resort_.async_wait([this](boost::system::error_code error) {
        if (!error) disconnect();
    });
}

void Link::send(Commands& commands) {
    if (state_ != State::up) return commands.clear();
    Commands batch;
    {
        const std::lock_guard lock(mutex_);
        batch.swap(spent_commands_);
    }
    batch.swap(commands);
    asio::post(pump_.context(), [this, batch = std::move(batch), seen = closes_seen_]() mutable {
        pump_.perform(batch, seen);
        batch.clear();
        const std::lock_guard lock(mutex_);
        spent_commands_.swap(batch);
    });
}

void Link::hand_over(Events& events) {
    {
        const std::lock_guard lock(mutex_);
        if (reported_.empty()) {
            reported_.swap(events);
        } else {
            std::move(events.begin(), events.end(), std::back_inserter(reported_));
            events.clear();
        }
        if (std::exchange(told_, true)) return;
    }
    asio::post(main_, [this, alive = watched_] {
        if (!alive.expired()) receive();
    });
}

void Link::receive() {
    {
        const std::lock_guard lock(mutex_);
        received_.swap(reported_);
        told_ = false;
    }
    for (const auto& event : received_) {
        if (std::holds_alternative<ports::PublishChannelClosed>(event)) ++closes_seen_;
        if (std::holds_alternative<ports::LinkUp>(event)) state_ = State::up;
        if (std::holds_alternative<ports::LinkDown>(event)) {
            state_ = State::down;
            last_resort_.cancel();
            pulse_.cancel();
        }
    }
    taken_ += bytes_in(received_);
    inbox_.broker_events(received_);
    received_.clear();
    if (taken_ < told_at_once) return;
    asio::post(pump_.context(), [this, bytes = std::exchange(taken_, 0)] { pump_.taken(bytes); });
}

}  // namespace retryd::amqp
