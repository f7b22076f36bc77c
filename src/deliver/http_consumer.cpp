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
    for (const auto& dependency : policy.dependencies) {
        auto& fallbacks = fallbacks_.emplace_back();
        for (const auto& target : dependency.fallback) {
            auto deliver = std::make_unique<model::DeliverPolicy>();
            deliver->http = target;
            auto pool = std::make_shared<HttpPool>(io, model::QueueId{}, *deliver, inbox);
            fallbacks.push_back({std::move(deliver), std::move(pool)});
        }
    }
}

HttpConsumer::~HttpConsumer() = default;

void HttpConsumer::deliver(ports::Delivery&& delivery) {
    const auto queue = delivery.queue.value;
    if (const auto fallback = delivery.fallback) {
        const auto& [policy, pool] = fallbacks_[fallback->dependency][fallback->position];
        auto head = request_head(delivery, policy_.queues[queue], policy->http);
        return pool->send({delivery.key, std::move(head), std::move(delivery.message)});
    }
    auto head = request_head(delivery, policy_.queues[queue]);
    pools_[queue]->send({delivery.key, std::move(head), std::move(delivery.message)});
}

bool HttpConsumer::abandon(model::DeliveryKey key) {
    const auto abandons = [key](const auto& pool) { return pool->abandon(key); };
    if (std::any_of(pools_.begin(), pools_.end(), abandons)) return true;
    return std::any_of(fallbacks_.begin(), fallbacks_.end(), [&](const auto& fallbacks) {
        return std::any_of(fallbacks.begin(), fallbacks.end(), [&](const auto& one) { return abandons(one.pool); });
    });
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
