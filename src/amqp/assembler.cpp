#include "amqp/assembler.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace retryd::amqp {

namespace {

// What is reserved before a byte of the body has come: the announced size is only a claim.
constexpr std::size_t reserved_on_trust = 1024 * 1024;

// No broker takes a larger message. So much is asked of the system at once, which gives what is written to, and no more:
// growing by doubling would hold a large body one and a half times.
constexpr std::uint64_t largest_body = 512 * 1024 * 1024;

// Never past the size that is known to be needed. (std::string::reserve may give twice as much.)
void append(std::string& body, std::string_view bytes, std::uint64_t missing) {
    const std::size_t needed = body.size() + bytes.size();
    if (needed > body.capacity()) {
        const std::uint64_t whole = body.size() + missing;
        const std::uint64_t room = whole <= largest_body ? whole : std::max(needed, 2 * body.capacity());
        std::string roomier;
        roomier.reserve(static_cast<std::size_t>(std::min(whole, room)));
        roomier.append(body);
        body = std::move(roomier);
    }
    body.append(bytes);
}

}  // namespace

Incoming Assembler::begin(Deliver&& deliver) {
    const ChannelNumber channel = deliver.channel;
    return begin(channel, std::variant<Deliver, Return>{std::move(deliver)});
}

Incoming Assembler::begin(Return&& returned) {
    const ChannelNumber channel = returned.channel;
    return begin(channel, std::variant<Deliver, Return>{std::move(returned)});
}

Incoming Assembler::begin(ChannelNumber channel, std::variant<Deliver, Return>&& method) {
    const auto [at, fresh] = partial_.try_emplace(channel);
    if (!fresh) return Malformed{"a message began before the last one on its channel was whole"};
    at->second.method = std::move(method);
    return Nothing{};
}

Incoming Assembler::header(ChannelNumber channel, std::uint64_t body_size, std::string_view properties) {
    const auto at = partial_.find(channel);
    if (at == partial_.end() || at->second.header_seen) return Malformed{"a content header that no method announced"};
    Partial& partial = at->second;
    partial.header_seen = true;
    partial.missing = body_size;
    partial.message->properties = properties;
    if (body_size == 0) return finish(at);
    if (std::holds_alternative<Deliver>(partial.method)) {
        partial.message->body.reserve(static_cast<std::size_t>(std::min<std::uint64_t>(body_size, reserved_on_trust)));
    }
    return Nothing{};
}

Incoming Assembler::body(ChannelNumber channel, std::string_view bytes) {
    const auto at = partial_.find(channel);
    if (at == partial_.end() || !at->second.header_seen) return Malformed{"a body frame that no header announced"};
    Partial& partial = at->second;
    if (bytes.size() > partial.missing) return Malformed{"a body longer than its header said"};
    if (std::holds_alternative<Deliver>(partial.method)) append(partial.message->body, bytes, partial.missing);
    partial.missing -= bytes.size();
    if (partial.missing > 0) return Nothing{};
    return finish(at);
}

Incoming Assembler::finish(std::map<ChannelNumber, Partial>::iterator at) {
    Partial whole = std::move(at->second);
    partial_.erase(at);
    if (auto* returned = std::get_if<Return>(&whole.method)) {
        returned->properties = std::move(whole.message->properties);
        return std::move(*returned);
    }
    auto& deliver = std::get<Deliver>(whole.method);
    deliver.message = std::move(whole.message);
    return std::move(deliver);
}

}  // namespace retryd::amqp
