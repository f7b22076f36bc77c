#include "app/consumers.hpp"

#include <utility>

namespace retryd::app {

Consumers::Consumers(boost::asio::io_context& io, const model::Policy& policy, ports::Inbox& inbox, ports::Journal& journal)
    : policy_(policy), http_(io, policy, inbox), stream_(io, policy, inbox, journal) {}

ports::Consumer& Consumers::of(model::QueueId queue) {
    if (policy_.queues[queue.value].deliver.stream) return stream_;
    return http_;
}

const ports::Consumer& Consumers::of(model::QueueId queue) const {
    if (policy_.queues[queue.value].deliver.stream) return stream_;
    return http_;
}

void Consumers::deliver(ports::Delivery&& delivery) {
    if (delivery.fallback) return http_.deliver(std::move(delivery));
    of(delivery.queue).deliver(std::move(delivery));
}

bool Consumers::abandon(model::DeliveryKey key) {
    return http_.abandon(key) || stream_.abandon(key);  // each knows its own
}

void Consumers::probe(model::QueueId queue) {
    of(queue).probe(queue);
}

std::optional<std::uint32_t> Consumers::credit(model::QueueId queue) const {
    return of(queue).credit(queue);
}

void Consumers::drain() {
    http_.drain();
    stream_.drain();
}

std::string Consumers::describe(model::QueueId queue) const {
    return of(queue).describe(queue);
}

}  // namespace retryd::app
