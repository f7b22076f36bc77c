#include "deliver/http_consumer.hpp"

#include "deliver/http_dial.hpp"
#include "deliver/http_pool.hpp"
#include "deliver/http_request.hpp"

#include <algorithm>
#include <utility>

namespace retryd::deliver {

HttpConsumer::HttpConsumer(boost::asio::io_context& io, const model::Policy& policy, ports::Inbox& inbox) : policy_(policy) {
    for (const auto& queue : policy.queues) {
        const model::QueueId id{static_cast<std::uint32_t>(pools_.size())};
        pools_.push_back(std::make_shared<HttpPool>(io, id, queue.deliver, inbox));
    }
}

HttpConsumer::~HttpConsumer() = default;

void HttpConsumer::deliver(ports::Delivery&& delivery) {
    const auto queue = delivery.queue.value;
    auto head = request_head(delivery, policy_.queues[queue]);
    pools_[queue]->send({delivery.key, std::move(head), std::move(delivery.message)});
}

bool HttpConsumer::abandon(model::DeliveryKey key) {
    return std::any_of(pools_.begin(), pools_.end(), [key](const auto& pool) { return pool->abandon(key); });
}

void HttpConsumer::probe(model::QueueId queue) {
    pools_[queue.value]->probe();
}

std::string HttpConsumer::describe(model::QueueId queue) const {
    const auto& target = policy_.queues[queue.value].deliver.http;
    const auto path = target.path_is_secret ? "/..." : shown_path(target.path);
    return target.unix_path.empty() ? "http://" + target.host + path : "unix:" + target.unix_path + " " + path;
}

}  // namespace retryd::deliver
