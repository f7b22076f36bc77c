#include "deliver/http_pool.hpp"

#include "deliver/http_request.hpp"
#include "model/message.hpp"

#include <algorithm>
#include <utility>

namespace retryd::deliver {
namespace {

constexpr model::DeliveryKey ready_question{0};  // no delivery has this key

model::Reply failed_reply(const HttpConnection& connection, const std::string& trouble) {
    model::Reply reply;
    reply.kind = connection.has_sent() ? model::Reply::Kind::lost : model::Reply::Kind::unavailable;
    reply.error_type = connection.has_sent() ? "retryd.Lost" : "retryd.Unavailable";
    reply.error_message = trouble;
    return reply;
}

}  // namespace

HttpPool::HttpPool(boost::asio::io_context& io, model::QueueId id, const model::DeliverPolicy& policy, ports::Inbox& inbox)
    : io_(io), id_(id), policy_(policy), inbox_(inbox), probe_timer_(io), sweep_timer_(io) {}

HttpPool::~HttpPool() {
    for (const auto& [key, connection] : busy_) connection->close();
    for (const auto& idle : idle_) idle.connection->close();
    for (const auto& connection : probing_) connection->close();
}

void HttpPool::send(HttpExchange exchange) {
    const auto connection = take_idle();
    if (connection == nullptr) return send_fresh(std::move(exchange));
    busy_.emplace(exchange.key, connection);
    connection->send(std::move(exchange));
}

bool HttpPool::abandon(model::DeliveryKey key) {
    const auto found = busy_.find(key);
    if (found == busy_.end()) return false;
    const auto connection = std::move(found->second);
    busy_.erase(found);
    connection->close();
    return connection->is_connected();
}

void HttpPool::probe() {
    const auto connection = std::make_shared<HttpConnection>(io_, policy_, *this);
    probing_.push_back(connection);
    connection->start();
}

void HttpPool::send_fresh(HttpExchange exchange) {
    const auto connection = std::make_shared<HttpConnection>(io_, policy_, *this);
    busy_.emplace(exchange.key, connection);
    connection->send(std::move(exchange));
    connection->start();
}

// The one used last: what the consumer has closed meanwhile is dropped here.
HttpPool::ConnectionPtr HttpPool::take_idle() {
    while (!idle_.empty()) {
        const auto idle = std::move(idle_.back());
        idle_.pop_back();
        if (Clock::now() - idle.since < longest_idle && idle.connection->is_silent()) return idle.connection;
        idle.connection->close();
    }
    return nullptr;
}

void HttpPool::keep_idle(ConnectionPtr connection) {
    if (Clock::now() < distrusted_until_) return connection->close();
    idle_.push_back({std::move(connection), Clock::now()});
    if (!sweep_armed_) arm_sweep();
}

void HttpPool::connected(HttpConnection& connection) {
    if (policy_.ready) return ask_whether_ready(connection);
    keep_idle(take_probing(connection));
    inbox_.probed(id_, {});
}

void HttpPool::ask_whether_ready(HttpConnection& connection) {
    connection.send({ready_question, ready_request(policy_), std::make_shared<const model::Message>()});
    probe_timer_.expires_after(longest_ready_probe);
    probe_timer_.async_wait(
        [weak = weak_from_this(), asked = connection.weak_from_this()](const boost::system::error_code& error) {
            const auto self = weak.lock();
            const auto silent = asked.lock();
            if (error || self == nullptr || silent == nullptr || self->take_probing(*silent) == nullptr) return;
            silent->close();
            self->not_ready("no answer in 5 s");
        });
}

void HttpPool::ready_answered(const HttpConnection& connection, const model::Reply& reply) {
    probe_timer_.cancel();
    take_probing(connection)->close();
    if (reply.status >= 200 && reply.status < 300) return inbox_.probed(id_, {});
    not_ready("status " + std::to_string(reply.status));
}

void HttpPool::not_ready(const std::string& why) {
    inbox_.not_ready(id_, "GET " + shown_path(policy_.ready->path) + ": " + why);
}

void HttpPool::replied(HttpConnection& connection, model::DeliveryKey key, model::Reply&& reply) {
    if (key == ready_question) return ready_answered(connection, reply);
    auto done = busy_.extract(key);
    if (connection.is_open()) keep_idle(std::move(done.mapped()));
    inbox_.replied(key, std::move(reply));
}

void HttpPool::ended(HttpConnection& connection, const std::string& trouble) {
    if (take_probing(connection) != nullptr) {
        probe_timer_.cancel();
        if (connection.has_sent()) return not_ready(trouble);  // somebody is there
        return inbox_.probed(id_, trouble);
    }
    if (connection.exchange()) return exchange_failed(connection, trouble);
    std::erase_if(idle_, [&](const Idle& idle) { return idle.connection.get() == &connection; });
}

void HttpPool::exchange_failed(const HttpConnection& connection, const std::string& trouble) {
    const auto& exchange = *connection.exchange();
    busy_.erase(exchange.key);
    if (connection.was_reused() && !connection.has_sent()) return send_fresh(exchange);
    if (connection.was_reused()) distrusted_until_ = Clock::now() + distrust;
    inbox_.replied(exchange.key, failed_reply(connection, trouble));
}

HttpPool::ConnectionPtr HttpPool::take_probing(const HttpConnection& connection) {
    const auto found =
        std::find_if(probing_.begin(), probing_.end(), [&](const ConnectionPtr& each) { return each.get() == &connection; });
    if (found == probing_.end()) return nullptr;
    auto taken = std::move(*found);
    probing_.erase(found);
    return taken;
}

// One timer for all, and none while nothing is idle.
void HttpPool::arm_sweep() {
    sweep_armed_ = true;
    sweep_timer_.expires_at(idle_.front().since + longest_idle);
    sweep_timer_.async_wait([weak = weak_from_this()](const boost::system::error_code& error) {
        const auto self = weak.lock();
        if (!error && self != nullptr) self->sweep();
    });
}

void HttpPool::sweep() {
    const auto kept = std::find_if(idle_.begin(), idle_.end(),
                                   [now = Clock::now()](const Idle& idle) { return now - idle.since < longest_idle; });
    std::for_each(idle_.begin(), kept, [](const Idle& idle) { idle.connection->close(); });
    idle_.erase(idle_.begin(), kept);
    sweep_armed_ = false;
    if (!idle_.empty()) arm_sweep();
}

}  // namespace retryd::deliver
