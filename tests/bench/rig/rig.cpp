#include "rig/rig.hpp"

#include "model/properties.hpp"

#include <cstdio>
#include <cstdlib>
#include <utility>
#include <variant>

namespace retryd::bench {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t body_size = 1024;
constexpr std::uint32_t generation = 1;
constexpr model::QueueId only_queue{0};
constexpr model::Milliseconds between_batches = 1ms;
constexpr model::Milliseconds delay = 500ms;
constexpr model::Milliseconds longest_wait = 1s;  // of a copy in a delay queue, with its jitter

// The built-in values without guards, but with what ./dev bench measures with.
model::PolicyPtr one_queue() {
    model::QueuePolicy queue;
    queue.name = {"orders"};
    queue.lane = {"retryd.orders.lane"};
    queue.parked = {"retryd.orders.parked"};
    queue.dlq = {"retryd.orders.dlq"};
    queue.tier_prefix = "retryd.orders.";
    queue.to = {queue.parked, queue.parked, queue.parked, queue.parked, queue.parked, queue.dlq};
    queue.deliver.http = {"localhost", "/run/app/app.sock", {}, 0, "/orders", false};
    queue.deliver.concurrency = 256;
    queue.deliver.slow_start.reset();
    queue.prefetch = 256;
    queue.retry.delays = {delay};
    queue.retry.max = 1;
    queue.breaker.reset();
    queue.budgets = {std::nullopt, std::nullopt};
    queue.storm.reset();
    queue.retry.skip_quick_above.reset();
    auto policy = std::make_shared<model::Policy>();
    policy->broker.addresses = {{}};
    policy->queues = {queue};
    return policy;
}

std::string usual_properties(std::uint64_t number) {
    const auto id = "order-" + std::to_string(number);
    model::Properties properties;
    properties.content_type = "application/json";
    properties.delivery_mode = 2;
    properties.message_id = id;
    return model::write_properties(properties);
}

}  // namespace

Rig::Rig(Transport transport) : policy_(one_queue()), mouth_(mouth_for(transport, policy_->queues[0])), body_(body_size, 'x') {
    now_ = {model::SteadyTime{1h}, model::WallTime{std::chrono::milliseconds{1'764'522'309'120}}};
    engine_ = std::make_unique<engine::Engine>(policy_, engine::Ports{*this, *this, *this, *this},
                                               engine::Options{"host", "0.1.0", std::nullopt, 1});
    engine_->start(now_);
    tell_the_engine();
}

Rig::~Rig() = default;

void Rig::succeed(std::uint32_t batch) {
    arrive_fresh(batch);
    answer_all(true);
    must_be_settled(batch);
    advance(between_batches);
}

void Rig::fail_once(std::uint32_t batch) {
    arrive_fresh(batch);
    answer_all(false);
    advance(longest_wait);
    arrive_copies();
    answer_all(true);
    must_be_settled(2 * std::uint64_t{batch});
    advance(between_batches);
}

void Rig::arrive_fresh(std::uint32_t batch) {
    settled_ = 0;
    for (std::uint32_t i = 0; i < batch; ++i) {
        arrive(model::Side::work, std::make_shared<const model::Message>(model::Message{usual_properties(++messages_), body_}));
    }
    tell_the_engine();
}

void Rig::arrive_copies() {
    std::swap(copies_, coming_back_);
    for (const auto& copy : coming_back_) {
        arrive(model::Side::lane, std::make_shared<const model::Message>(model::Message{copy.properties, copy.message->body}));
    }
    coming_back_.clear();
    tell_the_engine();
}

void Rig::arrive(model::Side side, const model::MessagePtr& message) {
    const auto& queue = policy_->queues[0];
    const model::DeliveryTag tag{{only_queue, side}, generation, ++tags_[static_cast<std::size_t>(side)]};
    const auto& key = side == model::Side::work ? queue.name : queue.lane;
    events_.push_back(ports::Delivered{tag, {"", key.value, false}, message});
}

void Rig::answer_all(bool success) {
    std::swap(at_consumer_, being_answered_);
    for (const auto key : being_answered_) replies_.push_back({key, mouth_->hear(success)});
    engine_->replied(replies_, now_);
    being_answered_.clear();
    tell_the_engine();
}

// What the engine asked for is answered until it asks for nothing more.
void Rig::tell_the_engine() {
    while (!events_.empty() || probed_) {
        if (std::exchange(probed_, false)) engine_->probed(only_queue, {}, now_);
        auto events = std::exchange(events_, {});
        if (!events.empty()) engine_->broker_events(events, now_);
    }
}

void Rig::advance(model::Milliseconds time) {
    now_.steady += time;
    now_.wall += time;
    if (armed_ <= now_.steady) {
        armed_ = model::SteadyTime::max();
        engine_->timer_due(now_);
    }
    tell_the_engine();
}

void Rig::must_be_settled(std::uint64_t messages) const {
    if (settled_ == messages) return;
    std::fprintf(stderr, "%llu messages are settled instead of %llu\n", static_cast<unsigned long long>(settled_),
                 static_cast<unsigned long long>(messages));
    std::abort();
}

void Rig::connect(ports::Link link, std::size_t) {
    events_.push_back(ports::LinkUp{link, "3.10.8", 131072});
}

void Rig::send(ports::Link link, std::vector<ports::BrokerCommand>& commands) {
    for (auto& command : commands) perform(link, command);
    commands.clear();
}

void Rig::perform(ports::Link link, ports::BrokerCommand& command) {
    if (const auto* settle = std::get_if<ports::Settle>(&command)) settled_ += settle->ack ? 1 : 0;
    if (const auto* asked = std::get_if<ports::Subscribe>(&command))
        events_.push_back(ports::Subscribed{asked->source, generation});
    if (const auto* asked = std::get_if<ports::LookUp>(&command))
        events_.push_back(ports::LookedUp{asked->queue, true, 0, 1, 0, {}, link});
    if (const auto* asked = std::get_if<ports::Declare>(&command))
        events_.push_back(ports::Declared{asked->spec.name, true, 0, {}, link});
    if (auto* copy = std::get_if<ports::PublishCopy>(&command)) {
        events_.push_back(ports::Confirmed{copy->key});
        copies_.push_back(std::move(*copy));
    }
}

void Rig::deliver(ports::Delivery&& delivery) {
    mouth_->say(delivery);
    at_consumer_.push_back(delivery.key);
}

void Rig::probe(model::QueueId) {
    probed_ = true;
}

}  // namespace retryd::bench
