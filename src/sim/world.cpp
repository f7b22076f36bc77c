#include "sim/world.hpp"

#include "model/properties.hpp"

#include <algorithm>
#include <utility>

namespace retryd::sim {

namespace {

constexpr std::size_t log_lines_kept = 2'000;
constexpr std::uint32_t rings_at_one_time = 100;

}  // namespace

World::World(model::PolicyPtr policy, std::uint64_t seed)
    : policy_(std::move(policy)),
      chance_(seed),
      audit_(*policy_),
      broker_(time_, chance_.fork(), *this, audit_),
      consumer_(time_, chance_.fork(), *this, audit_, [this](const auto& delivery) { return audit_.judge(delivery); }) {
    for (const auto& queue : policy_->queues) broker_.declare(model::plain_queue(queue.name, model::QueueType::quorum));
}

World::~World() = default;

void World::start() {
    begin_engine();
}

void World::crash() {
    engine_.reset();
    broker_.client_gone();
    consumer_.client_gone();
    begin_engine();
}

void World::begin_engine() {
    ++armed_;
    armed_for_.reset();
    const engine::Ports ports{door_, consumer_, *this, *this};
    engine_ = std::make_unique<engine::Engine>(policy_, ports, engine::Options{"sim", "0", std::nullopt, chance_.next()});
    engine_->start(time_.now());
    engine_->check_invariants();
}

bool World::obey(const model::Order& order, std::string_view who) {
    return engine_->obey(order, who, time_.now());
}

void World::drain() {
    engine_->stop("sim", time_.now());
    engine_->check_invariants();
}

std::uint64_t World::publish(const std::string& queue, Fate fate, const Extra& extra) {
    const auto number = audit_.enlist(std::move(fate));
    model::Properties properties;
    properties.delivery_mode = 2;
    if (extra.message_id) properties.message_id = *extra.message_id;
    if (extra.expiration) properties.expiration = *extra.expiration;
    if (!extra.headers.empty()) properties.headers = extra.headers;
    model::Message message{model::write_properties(properties), Audit::body(number, extra.body_size)};
    broker_.publish({queue}, {extra.exchange, queue, false}, std::move(message));
    return number;
}

bool World::run_until_settled(model::Microseconds limit) {
    return time_.run_until([this] { return broker_.holds_only(audit_.lots()); }, limit);
}

void World::Door::send(ports::Link link, std::vector<ports::BrokerCommand>& commands) {
    if (world.tamper_ != nullptr) world.tamper_->sent(link, commands);
    world.broker_.send(link, commands);
}

void World::broker_events(std::vector<ports::BrokerEvent>& events) {
    if (tamper_ != nullptr) tamper_->heard(events);
    engine_->broker_events(events, time_.now());
    engine_->check_invariants();
}

void World::replied(model::DeliveryKey key, model::Reply&& reply) {
    std::vector<engine::Replied> replies;
    replies.push_back({key, std::move(reply)});
    engine_->replied(replies, time_.now());
    engine_->check_invariants();
}

void World::probed(model::QueueId queue, const std::string& trouble) {
    engine_->probed(queue, trouble, time_.now());
    engine_->check_invariants();
}

void World::arm(model::SteadyTime when) {
    if (when == armed_for_) return;
    armed_for_ = when;
    ++armed_;
    if (when == model::SteadyTime::max()) return;
    time_.at(when, [this, wish = armed_] {
        if (wish != armed_) return;
        armed_for_.reset();
        ++timer_calls_;
        rings_ = time_.now().steady == last_ring_ ? rings_ + 1 : 0;
        last_ring_ = time_.now().steady;
        if (rings_ == rings_at_one_time) return audit_.wrong("a busy loop: the timer rings again and again at one time");
        engine_->timer_due(time_.now());
        engine_->check_invariants();
    });
}

void World::record(const ports::LogEvent& event) {
    auto line = std::to_string(time_.now().steady.time_since_epoch().count()) + "us " + std::string(event.event);
    for (const auto& [name, value] : event.fields) line.append(" ").append(name).append("=").append(value);
    log_.push_back(std::move(line));
    if (log_.size() > log_lines_kept) log_.pop_front();
}

}  // namespace retryd::sim
