#include "sim/store.hpp"

#include "sim/hop.hpp"

#include <algorithm>
#include <utility>

namespace retryd::sim {

namespace {

constexpr model::Microseconds dead_letter_pause = std::chrono::minutes{3};  // of RabbitMQ's at-least-once worker

}  // namespace

Store::Store(VirtualTime& time, Watch& watch, std::function<void()> changed)
    : time_(time), watch_(watch), changed_(std::move(changed)) {}

bool Store::declare(const model::QueueSpec& spec) {
    const auto [at, fresh] = queues_.try_emplace(spec.name);
    if (!fresh) return at->second.spec == spec;
    at->second.spec = spec;
    at->second.life = ++lives_;
    return true;
}

void Store::remove(const model::QueueName& name) {
    const auto at = queues_.find(name);
    if (at == queues_.end()) return;
    for (const auto& [place, stored] : at->second.ready) watch_.gone(*stored.message, "its queue was deleted");
    for (const auto& stored : at->second.without_target) watch_.gone(*stored.message, "its queue was deleted");
    queues_.erase(at);
}

ModelQueue* Store::find(const model::QueueName& name) {
    const auto at = queues_.find(name);
    return at == queues_.end() ? nullptr : &at->second;
}

void Store::put(ModelQueue& queue, model::Arrival arrival, model::MessagePtr message) {
    auto ttl = queue.spec.ttl;
    if (const auto own = own_ttl(message->properties)) ttl = ttl ? std::min(*ttl, *own) : *own;
    Stored stored{++places_, std::move(arrival), std::move(message), 0, {}};
    if (ttl) stored.expires = time_.now().steady + *ttl;
    if (ttl) schedule(queue, *stored.expires);
    if (queue.borrowed) {
        ++stored.returns;
        stored.arrival.redelivered = true;
    }
    queue.ready.emplace(stored.place, std::move(stored));
}

std::optional<Stored> Store::take(ModelQueue& queue) {
    if (queue.ready.empty()) return std::nullopt;
    auto taken = std::move(queue.ready.begin()->second);
    queue.ready.erase(queue.ready.begin());
    return taken;
}

void Store::give_back(const model::QueueName& name, std::uint64_t life, Stored stored) {
    auto* queue = find(name);
    if (queue == nullptr || queue->life != life) {
        watch_.gone(*stored.message, "its queue was deleted");
        return;
    }
    ++stored.returns;
    stored.arrival.redelivered = true;
    if (stored.expires) schedule(*queue, *stored.expires);
    queue->ready.emplace(stored.place, std::move(stored));
}

void Store::run(bool running) {
    running_ = running;
    if (!running) return;
    for (auto& [name, queue] : queues_) {
        try_again(queue);
        expire(queue);
    }
}

void Store::schedule(const ModelQueue& queue, model::SteadyTime when) {
    time_.at(when, [this, name = queue.spec.name, life = queue.life] {
        auto* found = find(name);
        if (!running_ || found == nullptr || found->life != life) return;
        try_again(*found);
        expire(*found);
        changed_();
    });
}

// Only the head is looked at, as a broker does: a short wait behind a long one waits for it.
void Store::expire(ModelQueue& queue) {
    while (!queue.ready.empty()) {
        const auto& head = queue.ready.begin()->second;
        if (!head.expires || *head.expires > time_.now().steady) return;
        dead_letter(queue, *take(queue));
    }
}

void Store::dead_letter(ModelQueue& queue, Stored stored) {
    const auto now = time_.now().steady;
    auto* target = find(queue.spec.dead_letter_to);
    const bool at_least_once = queue.spec.type == model::QueueType::quorum && !queue.spec.dead_letter_to.value.empty();
    if (at_least_once && (target == nullptr || queue.shut_until)) {
        queue.without_target.push_back(std::move(stored));
        if (queue.shut_until) return;
        queue.shut_until = now + dead_letter_pause;
        schedule(queue, *queue.shut_until);
    } else if (target == nullptr) {
        watch_.gone(*stored.message, "it expired, and there was no target");
    } else {
        hop(queue, *target, std::move(stored));
    }
}

void Store::try_again(ModelQueue& queue) {
    if (!queue.shut_until || *queue.shut_until > time_.now().steady) return;
    queue.shut_until.reset();
    for (auto& stored : std::exchange(queue.without_target, {})) dead_letter(queue, std::move(stored));
}

void Store::hop(const ModelQueue& from, ModelQueue& to, Stored stored) {
    auto moved = std::make_shared<model::Message>();
    moved->properties =
        after_hop(stored.message->properties, from.spec.name, stored.arrival.exchange, stored.arrival.routing_key);
    moved->body = stored.message->body;
    put(to, {"", to.spec.name.value, false}, std::move(moved));
}

}  // namespace retryd::sim
