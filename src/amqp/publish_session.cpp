#include "amqp/publish_session.hpp"

#include "amqp/frames.hpp"
#include "amqp/methods.hpp"
#include "model/header_table.hpp"
#include "model/properties.hpp"

#include <utility>
#include <variant>

namespace retryd::amqp {

namespace {

constexpr ChannelNumber publish_number = 1;
constexpr ChannelNumber scratch_number = 2;
constexpr std::string_view id_header = "retryd-id";

constexpr std::size_t share = 256 * 1024;  // bytes of bodies between two looks at the socket

// The retryd-id of a copy that came back; empty where it has none.
std::string id_of(std::string_view property_bytes) {
    const auto properties = model::read_properties(property_bytes);
    if (!properties || !properties->headers) return {};
    const auto table = model::read_table(*properties->headers);
    if (!table) return {};
    const model::HeaderView* header = model::find_header(*table, id_header);
    if (header == nullptr) return {};
    return std::string{model::content(header->value).value_or(std::string_view{})};
}

}  // namespace

PublishSession::PublishSession(Connection& connection, Events& events)
    : connection_(connection), events_(events), scratch_(connection, scratch_number, ports::Link::publish, events) {}

void PublishSession::start() {
    open_channel(connection_, publish_number);
    select_confirms(connection_, publish_number);
}

void PublishSession::perform(Commands& commands, std::uint32_t closes_seen) {
    for (auto& command : commands) {
        // Of copies the sender will learn that the channel was closed and that they are void.
        if (closes_seen != closes_ && std::holds_alternative<ports::PublishCopy>(command)) continue;
        std::visit([this](auto& one) { perform(one); }, command);
    }
}

// In shares, so that the broker's notice of an alarm is read before much is sent against it.
bool PublishSession::advance() {
    std::size_t sent = 0;
    while (!blocked_ && !waiting_.empty() && sent < share) {
        sent += waiting_.front().message->body.size();
        publish(waiting_.front());
        waiting_.pop_front();
    }
    return !blocked_ && !waiting_.empty();
}

// What the broker could not read would end the channel, or the connection with all that is on its way. So look first.
void PublishSession::publish(ports::PublishCopy& copy) {
    if (!is_short_string(copy.queue.value)) return refuse(copy, AMQP_SYNTAX_ERROR, "a queue's name has at most 255 bytes");
    if (copy.properties.size() + header_overhead + frame_overhead > connection_.frame_max()) {
        return refuse(copy, AMQP_CONTENT_TOO_LARGE, "the headers do not fit into a frame");
    }
    if (!model::read_properties(copy.properties)) return refuse(copy, AMQP_SYNTAX_ERROR, "the properties are malformed");
    connection_.publish(publish_number, copy.queue.value, copy.properties, copy.message->body);
    window_.sent(copy.key, std::move(copy.queue.value), std::move(copy.id));
}

void PublishSession::refuse(const ports::PublishCopy& copy, std::uint16_t code, const char* why) {
    events_.push_back(ports::Returned{copy.key, code, why});
}

void PublishSession::take(Incoming&& incoming) {
    std::visit([this](auto& one) { take(one); }, incoming);
}

void PublishSession::take(Confirm& confirm) {
    for (const ports::PublishKey key : window_.confirmed(confirm.tag, confirm.multiple)) {
        if (confirm.ack) {
            events_.push_back(ports::Confirmed{key});
        } else {
            events_.push_back(ports::Nacked{key});
        }
    }
}

void PublishSession::take(Return& returned) {
    const auto key = window_.returned(id_of(returned.properties), returned.routing_key);
    // Some copy's confirm would now be believed although it came back: trust none of them.
    if (!key) return connection_.fail("the broker returned a copy that nobody knows");
    events_.push_back(ports::Returned{*key, returned.code, std::move(returned.text)});
}

void PublishSession::take(ChannelClose& close) {
    if (close.channel == scratch_number) return scratch_.take(close);
    accept_channel_close(connection_, publish_number);
    window_.reset();
    waiting_.clear();
    ++closes_;
    events_.push_back(ports::PublishChannelClosed{close.code, std::move(close.text)});
    start();
}

void PublishSession::take(ConnectionBlocked& blocked) {
    blocked_ = true;
    events_.push_back(ports::Blocked{std::move(blocked.reason)});
}

void PublishSession::take(ConnectionUnblocked&) {
    blocked_ = false;
    events_.push_back(ports::Unblocked{});
}

}  // namespace retryd::amqp
