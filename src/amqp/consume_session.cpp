#include "amqp/consume_session.hpp"

#include "amqp/methods.hpp"

#include <algorithm>
#include <type_traits>
#include <utility>
#include <variant>

namespace retryd::amqp {

namespace {

constexpr ChannelNumber scratch_number = 1;
constexpr ChannelNumber first_source_number = 2;

// Prefetch is the broker's window: with a quarter of it on the way back, the broker never runs dry.
constexpr std::size_t flush_share = 4;

}  // namespace

ConsumeSession::ConsumeSession(Connection& connection, Events& events, std::uint32_t& names_given)
    : connection_(connection),
      events_(events),
      names_given_(names_given),
      scratch_(connection, scratch_number, ports::Link::consume, events) {}

void ConsumeSession::perform(Commands& commands, std::uint32_t) {
    for (auto& command : commands) std::visit([this](auto& one) { perform(one); }, command);
    for (auto& [number, at] : channels_) send_acks(number, at);
}

// Acks that must go one by one cost the broker a step each, so they wait for those between, unless the broker would run dry.
void ConsumeSession::send_acks(ChannelNumber number, SourceChannel& at) {
    if (at.acks.pending() == 0) return;
    if (at.acks.pending() * flush_share >= at.prefetch) return flush(number, at);
    if (const auto front = at.acks.take_front()) connection_.ack(number, *front);
}

ChannelNumber ConsumeSession::channel_for(const model::Source& source) {
    if (const auto at = numbers_.find(source); at != numbers_.end()) return at->second;
    ChannelNumber number = first_source_number;  // the lowest that is free: each number costs memory once
    while (channels_.contains(number)) ++number;
    if (number > connection_.channel_max()) return 0;
    numbers_.emplace(source, number);
    channels_[number] = {source, ++names_given_, 1, {}, {}};
    open_channel(connection_, number);
    return number;
}

void ConsumeSession::perform(ports::Subscribe& command) {
    if (!is_short_string(command.queue.value)) {
        events_.push_back(ports::SourceClosed{command.source, AMQP_SYNTAX_ERROR, "a queue's name has at most 255 bytes"});
        return;
    }
    const ChannelNumber number = channel_for(command.source);
    if (number == 0) {
        events_.push_back(ports::SourceClosed{command.source, AMQP_NOT_ALLOWED, "the broker allows no more channels"});
        return;
    }
    SourceChannel& at = channels_[number];
    at.prefetch = command.prefetch;
    at.consumer_tag = "retryd-" + std::to_string(++names_given_);
    set_prefetch(connection_, number, at.prefetch);
    consume(connection_, number, command.queue.value, at.consumer_tag);
}

void ConsumeSession::perform(ports::Unsubscribe& command) {
    const auto number = numbers_.find(command.source);
    if (number == numbers_.end() || channels_[number->second].consumer_tag.empty()) {
        events_.push_back(ports::Unsubscribed{command.source});
        return;
    }
    cancel(connection_, number->second, std::exchange(channels_[number->second].consumer_tag, {}));
}

void ConsumeSession::perform(ports::Settle& command) {
    const auto number = numbers_.find(command.tag.source);
    if (number == numbers_.end()) return;
    SourceChannel& at = channels_[number->second];
    if (at.generation != command.tag.generation) return;
    if (!command.ack) {
        // Acks first: they would share the fate of the last of many nacks, which RabbitMQ forgets when the connection ends.
        flush(number->second, at);
        if (at.acks.nacked(command.tag.tag)) nack_with_requeue(connection_, number->second, command.tag.tag);
        return;
    }
    at.acks.acked(command.tag.tag);
}

bool ConsumeSession::holds_back() const {
    const auto pending = [](const auto& entry) { return entry.second.acks.pending() > 0; };
    return std::any_of(channels_.begin(), channels_.end(), pending);
}

void ConsumeSession::flush() {
    for (auto& [number, at] : channels_) flush(number, at);
}

void ConsumeSession::flush(ChannelNumber number, SourceChannel& at) {
    for (const Ack& one : at.acks.take()) connection_.ack(number, one);
}

void ConsumeSession::take(Incoming&& incoming) {
    if (auto* answer = std::get_if<DeclareOk>(&incoming)) return scratch_.take(*answer);
    const auto* close = std::get_if<ChannelClose>(&incoming);
    if (close != nullptr && close->channel == scratch_number) return scratch_.take(*close);
    std::visit(
        [this]<class One>(One& one) {
            if constexpr (requires { one.channel; }) {
                const auto at = channels_.find(one.channel);
                if (at != channels_.end()) take(one, at->second);
            }
        },
        incoming);
}

void ConsumeSession::take(Deliver& deliver, SourceChannel& at) {
    if (!at.acks.delivered(deliver.tag)) return connection_.fail("the broker numbered a delivery out of turn");
    arrived_ += 1.0 / at.prefetch;
    const model::DeliveryTag tag{at.source, at.generation, deliver.tag};
    events_.push_back(ports::Delivered{tag, std::move(deliver.arrival), std::move(deliver.message)});
}

void ConsumeSession::take(ConsumeOk&, SourceChannel& at) {
    events_.push_back(ports::Subscribed{at.source, at.generation});
}

void ConsumeSession::take(CancelOk&, SourceChannel& at) {
    events_.push_back(ports::Unsubscribed{at.source});
}

void ConsumeSession::take(Cancel& cancel, SourceChannel& at) {
    if (cancel.consumer_tag != at.consumer_tag) return;  // one that we have cancelled already
    at.consumer_tag.clear();
    events_.push_back(ports::SubscriptionLost{at.source});
}

void ConsumeSession::take(ChannelClose& close, SourceChannel& at) {
    accept_channel_close(connection_, close.channel);
    events_.push_back(ports::SourceClosed{at.source, close.code, std::move(close.text)});
    numbers_.erase(at.source);
    channels_.erase(close.channel);
}

}  // namespace retryd::amqp
