#include "app/main_loop.hpp"

#include <chrono>

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

void MainLoop::start() {
    engine_->start(clock_now());
    after_each_();
}

void MainLoop::broker_events(std::vector<ports::BrokerEvent>& events) {
    engine_->broker_events(events, clock_now());
    after_each_();
}

void MainLoop::replied(model::DeliveryKey key, model::Reply&& reply) {
    engine_->replied(key, std::move(reply), clock_now());
    after_each_();
}

void MainLoop::probed(model::QueueId queue, const std::string& trouble) {
    engine_->probed(queue, trouble, clock_now());
    after_each_();
}

void MainLoop::not_ready(model::QueueId queue, const std::string& why) {
    engine_->not_ready(queue, why, clock_now());
    after_each_();
}

void MainLoop::credit_changed(model::QueueId queue) {
    engine_->credit_changed(queue, clock_now());
    after_each_();
}

void MainLoop::consumer_gone(model::QueueId queue, const std::string& why) {
    engine_->consumer_gone(queue, why, clock_now());
    after_each_();
}

void MainLoop::extended(model::DeliveryKey key, model::Milliseconds more) {
    engine_->extended(key, more, clock_now());
    after_each_();
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

void MainLoop::drain(std::string_view who) {
    engine_->drain(who, clock_now());
    after_each_();
}

void MainLoop::stop(std::string_view who) {
    engine_->stop(who, clock_now());
    after_each_();
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
    engine_->timer_due(clock_now());
    after_each_();
}

}  // namespace retryd::app
