#include "app/main_loop.hpp"

#include <boost/asio/post.hpp>

#include <chrono>
#include <utility>

namespace retryd::app {

using std::chrono::steady_clock;

model::Clock clock_now() {
    const auto steady = std::chrono::duration_cast<model::Microseconds>(steady_clock::now().time_since_epoch());
    const auto wall = std::chrono::duration_cast<model::Milliseconds>(std::chrono::system_clock::now().time_since_epoch());
    return {model::SteadyTime{steady}, model::WallTime{wall}};
}

void MainLoop::attach(engine::Engine& engine, std::function<void()> after_each) {
    engine_ = &engine;
    after_each_ = std::move(after_each);
}

template <class Act>
void MainLoop::tell(Act act) {
    tell_replies();
    act(clock_now());
    after_each_();
}

void MainLoop::start() {
    tell([this](const model::Clock& now) { engine_->start(now); });
}

void MainLoop::broker_events(std::vector<ports::BrokerEvent>& events) {
    tell([&](const model::Clock& now) { engine_->broker_events(events, now); });
}

void MainLoop::replied(model::DeliveryKey key, model::Reply&& reply) {
    if (replies_.empty()) boost::asio::post(io_, [this] { tell_replies(); });
    replies_.push_back({key, std::move(reply)});
}

void MainLoop::tell_replies() {
    if (replies_.empty()) return;
    engine_->replied(replies_, clock_now());
    after_each_();
}

void MainLoop::probed(model::QueueId queue, const std::string& trouble) {
    tell([&](const model::Clock& now) { engine_->probed(queue, trouble, now); });
}

void MainLoop::not_ready(model::QueueId queue, const std::string& why) {
    tell([&](const model::Clock& now) { engine_->not_ready(queue, why, now); });
}

void MainLoop::credit_changed(model::QueueId queue) {
    tell([&](const model::Clock& now) { engine_->credit_changed(queue, now); });
}

void MainLoop::consumer_gone(model::QueueId queue, const std::string& why) {
    tell([&](const model::Clock& now) { engine_->consumer_gone(queue, why, now); });
}

void MainLoop::extended(model::DeliveryKey key, model::Milliseconds more) {
    tell([&](const model::Clock& now) { engine_->extended(key, more, now); });
}

model::StatusView MainLoop::status() const {
    return engine_->status(clock_now());
}

model::WhyView MainLoop::why(std::string_view id) const {
    return engine_->why(id, clock_now());
}

const model::Figures& MainLoop::figures() const {
    return engine_->figures();
}

bool MainLoop::obey(const model::Order& order, std::string_view who) {
    bool obeyed = false;
    tell([&](const model::Clock& now) { obeyed = engine_->obey(order, who, now); });
    return obeyed;
}

void MainLoop::drain(std::string_view who) {
    tell([&](const model::Clock& now) { engine_->drain(who, now); });
}

void MainLoop::stop(std::string_view who) {
    tell([&](const model::Clock& now) { engine_->stop(who, now); });
}

void MainLoop::arm(model::SteadyTime when) {
    // A ring that comes too early does no harm, so only an earlier wish moves the timer.
    if (when >= armed_) return;
    armed_ = when;
    timer_.expires_at(steady_clock::time_point{when.time_since_epoch()});
    timer_.async_wait([this](const boost::system::error_code& error) {
        if (!error) ring();
    });
}

void MainLoop::ring() {
    armed_ = model::SteadyTime::max();
    tell([&](const model::Clock& now) { engine_->timer_due(now); });
}

}  // namespace retryd::app
