// The publish link at the broker: copies, confirms, nacks, returns, alarms.

#include "model/header_table.hpp"
#include "model/properties.hpp"
#include "sim/model_broker.hpp"

#include <utility>

namespace retryd::sim {

using ports::Link;

namespace {

constexpr model::Microseconds store_least{50};
constexpr model::Microseconds store_most{3'000};
constexpr std::size_t frame_overhead = 20;  // of a content header's frame, beside the properties

// What a copy must never be, although a broker would take it. Nothing: it is fine.
std::string mistake_in(const std::string& bytes, const ModelQueue& queue) {
    const auto properties = model::read_properties(bytes);
    if (!properties) return "a copy's properties cannot be read";
    if (properties->delivery_mode != 2) return "a copy is not persistent";
    if (properties->expiration) return "a copy has an expiration of its own";
    const auto headers = model::read_table(properties->headers.value_or(""));
    if (!headers) return "a copy's headers cannot be read";
    for (const auto* name : {"CC", "BCC"})
        if (model::find_header(*headers, name) != nullptr) return "a copy would be routed twice";
    if (queue.spec.ttl && model::find_header(*headers, "x-death") != nullptr) return "a foreign x-death went into a tier";
    return {};
}

}  // namespace

void ModelBroker::take_copy(const ports::PublishCopy& copy) {
    const bool fits = copy.properties.size() + frame_overhead <= frame_max && copy.queue.value.size() <= longest_name;
    if (!fits || !model::read_properties(copy.properties))  // the adapter itself gives these back
        return tell(Link::publish, ports::Returned{copy.key, 0, "its properties cannot be sent"});
    if (const auto refusal = refusal_of(copy); !refusal.empty()) return close_publish_channel(refusal);
    if (leaderless_.contains(copy.queue)) stuck_ = true;
    if (stuck_) return;
    auto* queue = store_.find(copy.queue);
    const auto mischief = std::exchange(mischief_, std::nullopt);
    if (queue == nullptr || mischief == Mischief::give_back_as_unroutable)
        return tell(Link::publish, ports::Returned{copy.key, 312, "NO_ROUTE"});
    const bool nacks = queue->nacks || nacking_.contains(copy.queue) || mischief == Mischief::nack;
    if (nacks) return tell(Link::publish, ports::Nacked{copy.key});
    const auto stored = store_copy(*queue, copy);
    if (mischief == Mischief::nack_but_keep || mischief == Mischief::swallow_confirm) watch_.may_repeat(*stored);
    if (mischief == Mischief::nack_but_keep) return tell(Link::publish, ports::Nacked{copy.key});
    unconfirmed_.emplace(copy.key, stored);
    if (mischief != Mischief::swallow_confirm) confirm_later(copy.key);
}

std::string ModelBroker::refusal_of(const ports::PublishCopy& copy) const {
    if (max_body_ && copy.message->body.size() > max_body_->value)
        return "PRECONDITION_FAILED - message size " + std::to_string(copy.message->body.size()) +
               " is larger than configured max size " + std::to_string(max_body_->value);
    const auto properties = model::read_properties(copy.properties);
    if (properties && properties->user_id && *properties->user_id != "guest")
        return "PRECONDITION_FAILED - user_id property set to another user";
    return {};
}

// What was sent on the channel and has not arrived yet is ignored, confirms that were not sent never come.
void ModelBroker::close_publish_channel(const std::string& why) {
    ++broker_channel_;
    tell(Link::publish, ports::PublishChannelClosed{406, why});
}

void ModelBroker::void_unconfirmed() {
    for (const auto& [key, message] : std::exchange(unconfirmed_, {})) watch_.may_repeat(*message);
}

model::MessagePtr ModelBroker::store_copy(ModelQueue& queue, const ports::PublishCopy& copy) {
    if (const auto mistake = mistake_in(copy.properties, queue); !mistake.empty()) watch_.wrong(mistake);
    auto message = std::make_shared<const model::Message>(model::Message{copy.properties, copy.message->body});
    watch_.stored_copy(*message);
    store_.put(queue, {"", queue.spec.name.value, false}, message);
    return message;
}

void ModelBroker::confirm_later(ports::PublishKey key) {
    time_.after(chance_.between(store_least, store_most), [this, key, channel = broker_channel_] {
        if (channel == broker_channel_ && publish_.state == Wire::State::up) tell(Link::publish, ports::Confirmed{key});
    });
}

void ModelBroker::block_publishing(bool blocked) {
    if (std::exchange(blocked_, blocked) == blocked) return;
    publish_.commands.hold(blocked);
    if (publish_.state != Wire::State::up) return;
    if (blocked) return tell(Link::publish, ports::Blocked{"low on memory"});
    tell(Link::publish, ports::Unblocked{});
}

void ModelBroker::nack_copies_to(const model::QueueName& queue, bool nacking) {
    if (auto* found = store_.find(queue)) found->nacks = nacking;
}

void ModelBroker::nack_copies_on_this_link(const model::QueueName& queue) {
    nacking_.insert(queue);
}

void ModelBroker::take_leader_of(const model::QueueName& queue, bool gone) {
    if (gone) {
        leaderless_.insert(queue);
    } else {
        leaderless_.erase(queue);
    }
}

void ModelBroker::lend_from(const model::QueueName& queue, bool lending) {
    if (auto* found = store_.find(queue)) found->borrowed = lending;
}

}  // namespace retryd::sim
