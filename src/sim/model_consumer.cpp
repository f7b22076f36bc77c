#include "sim/model_consumer.hpp"

#include <algorithm>
#include <utility>

namespace retryd::sim {

namespace {

constexpr model::Microseconds connect_time{60};
constexpr std::string_view nobody_listens = "connect: no such file or directory";

model::Reply unavailable() {
    model::Reply reply;
    reply.kind = model::Reply::Kind::unavailable;
    reply.error_message = nobody_listens;
    return reply;
}

}  // namespace

ModelConsumer::ModelConsumer(VirtualTime& time, Chance chance, ports::Inbox& inbox, Watch& watch, Judge judge)
    : time_(time), chance_(chance), inbox_(inbox), watch_(watch), judge_(std::move(judge)) {}

void ModelConsumer::deliver(ports::Delivery&& delivery) {
    if (!working_.emplace(delivery.key, Work{delivery.queue, delivery.message}).second)
        watch_.wrong("a delivery was handed to the consumer twice");
    most_in_flight_ = std::max(most_in_flight_, working_.size());
    const bool is_away = delivery.fallback ? fallback_ == nullptr : away_.contains(delivery.queue);
    if (is_away) return reply_after(connect_time, delivery.key, unavailable());
    watch_.handed(delivery);
    const auto answer = (delivery.fallback ? fallback_ : judge_)(delivery);
    if (!answer.after) return;
    reply_after(*answer.after + chance_.between(0us, *answer.after / 2), delivery.key, answer.reply);
}

void ModelConsumer::reply_after(model::Microseconds wait, model::DeliveryKey key, const model::Reply& reply) {
    time_.after(wait, [this, key, reply, life = life_] {
        if (life == life_) finish(key, reply);
    });
}

void ModelConsumer::finish(model::DeliveryKey key, model::Reply reply) {
    const auto work = working_.extract(key);
    if (work.empty()) return;  // abandoned, or lost before
    const auto& message = *work.mapped().message;
    if (reply.kind == model::Reply::Kind::answered) watch_.processed(message, reply);
    if (reply.kind == model::Reply::Kind::lost) watch_.may_repeat(message);
    watch_.replied(message, reply);
    inbox_.replied(key, std::move(reply));
}

bool ModelConsumer::abandon(model::DeliveryKey key) {
    const auto work = working_.extract(key);
    if (work.empty()) return false;
    watch_.may_repeat(*work.mapped().message);
    return !away_.contains(work.mapped().queue);
}

std::vector<model::DeliveryKey> ModelConsumer::working() const {
    std::vector<model::DeliveryKey> keys;
    for (const auto& [key, work] : working_) keys.push_back(key);
    return keys;
}

void ModelConsumer::probe(model::QueueId queue) {
    ++probes_;
    const auto answer = [this, queue, life = life_] {
        if (life == life_) inbox_.probed(queue, away_.contains(queue) ? std::string(nobody_listens) : std::string());
    };
    time_.after(connect_time, answer, VirtualTime::Matter::chatter);
}

void ModelConsumer::go_away(model::QueueId queue) {
    away_.insert(queue);
    for (const auto& [key, work] : working_)
        if (work.queue == queue) reply_after(connect_time, key, breaks_off().reply);
}

void ModelConsumer::client_gone() {
    ++life_;
    for (const auto& [key, work] : std::exchange(working_, {})) watch_.may_repeat(*work.message);
}

}  // namespace retryd::sim
