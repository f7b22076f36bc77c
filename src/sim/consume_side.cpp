// The consume link at the broker: subscriptions, deliveries, acks, looking up and declaring.

#include "sim/hop.hpp"
#include "sim/model_broker.hpp"

#include <utility>

namespace retryd::sim {

using ports::Link;

ModelBroker::Channel& ModelBroker::channel_of(const model::Source& source) {
    auto& channel = channels_[source];
    if (channel.generation == 0) channel.generation = ++generations_;
    return channel;
}

void ModelBroker::subscribe(const ports::Subscribe& wish) {
    auto& channel = channel_of(wish.source);
    if (channel.subscription) watch_.wrong("subscribed twice to " + wish.queue.value);
    if (wish.queue.value.size() > longest_name) return close_source(wish.source, 406, "the name is longer than 255 bytes");
    if (store_.find(wish.queue) == nullptr)
        return close_source(wish.source, 404, "NOT_FOUND - no queue '" + wish.queue.value + "' in vhost '/'");
    channel.subscription = Subscription{wish.queue, wish.prefetch, ++subscriptions_, 0};
    tell(Link::consume, ports::Subscribed{wish.source, channel.generation});
}

void ModelBroker::unsubscribe(const model::Source& source) {
    const auto at = channels_.find(source);
    if (at != channels_.end()) at->second.subscription.reset();
    tell(Link::consume, ports::Unsubscribed{source});
}

void ModelBroker::close_source(const model::Source& source, std::uint16_t code, const std::string& why) {
    const auto at = channels_.find(source);
    if (at == channels_.end()) return;
    end_channel(at->second);
    channels_.erase(at);
    tell(Link::consume, ports::SourceClosed{source, code, why});
}

void ModelBroker::end_channel(Channel& channel) {
    channel.subscription.reset();
    for (auto& [tag, held] : std::exchange(channel.unacked, {})) {
        watch_.may_repeat(*held.stored.message);
        take_back(std::move(held));
    }
}

void ModelBroker::take_back(Held held) {
    store_.give_back(held.queue, held.life, std::move(held.stored));
}

// Called when the engine sends it, so that what it knew by then counts.
void ModelBroker::watch_settle(const ports::Settle& settle) {
    const auto at = channels_.find(settle.tag.source);
    if (at == channels_.end() || at->second.generation != settle.tag.generation) return;
    const auto held = at->second.unacked.find(settle.tag.tag);
    if (held != at->second.unacked.end()) watch_.settling(*held->second.stored.message, settle.ack);
}

void ModelBroker::settle(const ports::Settle& settle) {
    const auto at = channels_.find(settle.tag.source);
    if (at == channels_.end() || at->second.generation != settle.tag.generation) return;
    auto& channel = at->second;
    auto out = channel.unacked.extract(settle.tag.tag);
    if (out.empty()) {
        return watch_.wrong("a delivery was settled that is not out");  // the adapter sends it once
    }
    auto& held = out.mapped();
    if (channel.subscription && channel.subscription->number == held.subscription) --channel.subscription->open;
    if (settle.ack) return watch_.acked(*held.stored.message);
    take_back(std::move(held));
}

void ModelBroker::look_up(Link link, const model::QueueName& queue) {
    ++questions_;
    if (silent_ && link == Link::consume) return;
    const auto* found = store_.find(queue);
    if (found == nullptr)
        return tell(link, ports::LookedUp{queue, false, 0, 0, 404, "NOT_FOUND - no queue '" + queue.value + "'", link});
    std::uint32_t consumers = 0;
    for (const auto& [source, channel] : channels_)
        if (channel.subscription && channel.subscription->queue == queue) ++consumers;
    tell(link, ports::LookedUp{queue, true, found->ready.size(), consumers, 0, "", link});
}

void ModelBroker::declare_for_client(Link link, const model::QueueSpec& spec) {
    if (spec.name.value.size() > longest_name)
        return tell(link, ports::Declared{spec.name, false, 406, "the name is longer than 255 bytes", link});
    if (uncreatable_.contains(spec.name) && store_.find(spec.name) == nullptr)
        return tell(link, ports::Declared{spec.name, false, 403, "ACCESS_REFUSED - configure access refused", link});
    if (store_.declare(spec)) return tell(link, ports::Declared{spec.name, true, 0, "", link});
    const auto why = "PRECONDITION_FAILED - inequivalent arg for queue '" + spec.name.value + "'";
    tell(link, ports::Declared{spec.name, false, 406, why, link});
}

void ModelBroker::deliver_what_is_ready() {
    if (!running_) return;
    for (auto& [source, channel] : channels_) {
        if (!channel.subscription) continue;
        auto* queue = store_.find(channel.subscription->queue);
        if (queue == nullptr || serving_nobody_.contains(queue->spec.name)) continue;
        while (channel.subscription->open < channel.subscription->prefetch && !queue->ready.empty())
            hand_out(source, channel, *queue);
    }
}

void ModelBroker::hand_out(const model::Source& source, Channel& channel, ModelQueue& queue) {
    auto stored = *store_.take(queue);
    auto shown = stored.message;
    if (stored.returns > 0 && queue.spec.type == model::QueueType::quorum) {
        auto counted = std::make_shared<model::Message>(*shown);
        counted->properties = with_delivery_count(shown->properties, stored.returns);
        shown = std::move(counted);
    }
    const model::DeliveryTag tag{source, channel.generation, ++channel.last_tag};
    tell(Link::consume, ports::Delivered{tag, stored.arrival, std::move(shown)});
    ++channel.subscription->open;
    channel.unacked.emplace(tag.tag, Held{queue.spec.name, queue.life, channel.subscription->number, std::move(stored)});
}

}  // namespace retryd::sim
