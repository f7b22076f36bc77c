#pragma once
// The one loop where the engine lives: gives every event its time, and rings the engine's timer. Implements the ports that
// have to do with time, so that nothing else needs a clock.
//
// Replies that come in one pass of the loop are one event for the engine: a consumer that answers fifty messages at once
// costs one turn. Whatever else happens, the replies that came before it are told first.

#include "engine/engine.hpp"
#include "ports/inbox.hpp"
#include "ports/operator.hpp"
#include "ports/timer.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <functional>
#include <vector>

namespace retryd::app {

[[nodiscard]] model::Clock clock_now();

class MainLoop final : public ports::Inbox, public ports::Operator, public ports::Timer {
public:
    explicit MainLoop(boost::asio::io_context& io) : io_(io), timer_(io) {}

    // Before anything else; `after_each` is called when the engine has handled something.
    void attach(engine::Engine& engine, std::function<void()> after_each);
    void start();
    void stop(std::string_view who);  // drains and ends

    void broker_events(std::vector<ports::BrokerEvent>& events) override;
    void replied(model::DeliveryKey key, model::Reply&& reply) override;
    void probed(model::QueueId queue, const std::string& trouble) override;
    void not_ready(model::QueueId queue, const std::string& why) override;
    void credit_changed(model::QueueId queue) override;
    void consumer_gone(model::QueueId queue, const std::string& why) override;
    void extended(model::DeliveryKey key, model::Milliseconds more) override;

    [[nodiscard]] model::StatusView status() const override;
    [[nodiscard]] model::WhyView why(std::string_view id) const override;
    [[nodiscard]] const model::Figures& figures() const override;
    void drain(std::string_view who) override;
    [[nodiscard]] bool obey(const model::Order& order, std::string_view who) override;

    void arm(model::SteadyTime when) override;

private:
    void ring();
    void tell_replies();
    template <class Act>
    void tell(Act act);

    boost::asio::io_context& io_;
    engine::Engine* engine_ = nullptr;
    std::function<void()> after_each_;
    std::vector<engine::Replied> replies_;  // not told yet
    boost::asio::steady_timer timer_;
    model::SteadyTime armed_ = model::SteadyTime::max();
};

}  // namespace retryd::app
