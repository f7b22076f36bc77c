#pragma once
// The connections to one queue's consumer: a fresh one when none is idle, so never more than the engine's concurrency
// and one for each probe. On the main loop only.
//
// An idle connection is closed after 500 ms: a local connect costs little, and a server with few workers has each of
// its connections' worker back. A request of which nothing could be written on a reused connection is sent once more on
// a fresh one; where nothing could be written at all the reply is `unavailable`, every other broken exchange is `lost`.
// After a loss on a reused connection none is kept for a minute: some servers close after each answer without saying so,
// and every request that meets such a closing would be lost.
// With a standing gate each probe asks for its page on a connection of its own.

#include "deliver/http_connection.hpp"
#include "model/names.hpp"
#include "model/policy.hpp"
#include "ports/inbox.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <chrono>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace retryd::deliver {

inline constexpr std::chrono::milliseconds longest_idle{500};
inline constexpr std::chrono::seconds longest_ready_probe{5};
inline constexpr std::chrono::minutes distrust{1};  // of connections that were used before

class HttpPool : public std::enable_shared_from_this<HttpPool>, public HttpConnection::Owner {
public:
    HttpPool(boost::asio::io_context& io, model::QueueId id, const model::DeliverPolicy& policy, ports::Inbox& inbox);
    ~HttpPool() override;
    HttpPool(const HttpPool&) = delete;
    HttpPool& operator=(const HttpPool&) = delete;

    void send(HttpExchange exchange);
    bool abandon(model::DeliveryKey key);  // false: not one of ours, or nothing can have been sent
    void probe();

private:
    using ConnectionPtr = std::shared_ptr<HttpConnection>;
    using Clock = std::chrono::steady_clock;
    struct Idle {
        ConnectionPtr connection;
        Clock::time_point since;
    };

    void connected(HttpConnection& connection) override;
    void replied(HttpConnection& connection, model::DeliveryKey key, model::Reply&& reply) override;
    void ended(HttpConnection& connection, const std::string& trouble) override;

    ConnectionPtr take_idle();
    void keep_idle(ConnectionPtr connection);
    void send_fresh(HttpExchange exchange);
    void ask_whether_ready(HttpConnection& connection);
    void ready_answered(const HttpConnection& connection, const model::Reply& reply);
    void not_ready(const std::string& why);
    void exchange_failed(const HttpConnection& connection, const std::string& trouble);
    ConnectionPtr take_probing(const HttpConnection& connection);
    void arm_sweep();
    void sweep();

    boost::asio::io_context& io_;
    model::QueueId id_;
    const model::DeliverPolicy& policy_;
    ports::Inbox& inbox_;
    std::unordered_map<model::DeliveryKey, ConnectionPtr> busy_;
    std::vector<Idle> idle_;  // the longest idle first
    Clock::time_point distrusted_until_{};
    std::vector<ConnectionPtr> probing_;
    boost::asio::steady_timer probe_timer_;  // of the standing gate's question
    boost::asio::steady_timer sweep_timer_;
    bool sweep_armed_ = false;
};

}  // namespace retryd::deliver
