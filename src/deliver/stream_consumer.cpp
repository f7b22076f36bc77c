#include "deliver/stream_consumer.hpp"

#include "deliver/stream_server.hpp"

#include <algorithm>
#include <utility>

namespace retryd::deliver {

StreamConsumer::StreamConsumer(boost::asio::io_context& io, const model::Policy& policy, ports::Inbox& inbox,
                               ports::Journal& journal) {
    for (const auto& queue : policy.queues) {
        const model::QueueId id{static_cast<std::uint32_t>(servers_.size())};
        auto& server = servers_.emplace_back();
        if (queue.deliver.stream) server = std::make_shared<StreamServer>(io, id, queue, policy.max_body, inbox, journal);
    }
}

StreamConsumer::~StreamConsumer() {
    for (const auto& server : servers_) {
        if (server != nullptr) server->close();
    }
}

model::Result<void> StreamConsumer::listen(model::QueueId queue) {
    return servers_[queue.value]->listen();
}

void StreamConsumer::deliver(ports::Delivery&& delivery) {
    servers_[delivery.queue.value]->deliver(std::move(delivery));
}

bool StreamConsumer::abandon(model::DeliveryKey key) {
    return std::any_of(servers_.begin(), servers_.end(),
                       [key](const auto& server) { return server != nullptr && server->abandon(key); });
}

void StreamConsumer::probe(model::QueueId queue) {
    servers_[queue.value]->probe();
}

std::optional<std::uint32_t> StreamConsumer::credit(model::QueueId queue) const {
    return servers_[queue.value]->credit();
}

void StreamConsumer::drain() {
    for (const auto& server : servers_) {
        if (server != nullptr) server->drain();
    }
}

std::string StreamConsumer::describe(model::QueueId queue) const {
    return servers_[queue.value]->describe();
}

}  // namespace retryd::deliver
