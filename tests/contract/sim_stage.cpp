// The stage on the model broker, in virtual time.

#include "contract/stage.hpp"
#include "sim/model_broker.hpp"

#include <iterator>
#include <utility>

namespace retryd::contract {

namespace {

constexpr model::Microseconds patience = std::chrono::seconds{30};

class SimStage final : public Stage, ports::Inbox {
public:
    ports::Broker& broker() override { return broker_; }
    const std::vector<ports::BrokerEvent>& events() const override { return events_; }
    bool run_until(const std::function<bool()>& done) override { return time_.run_until(done, patience); }

    model::QueueName fresh_name(const std::string& hint) override { return {hint + "." + std::to_string(++names_)}; }
    void make_queue(const model::QueueName& queue, model::QueueType type) override {
        broker_.declare(model::plain_queue(queue, type));
    }
    void delete_queue(const model::QueueName& queue) override { broker_.remove(queue); }
    void put(const model::QueueName& queue, const model::Message& message) override {
        broker_.publish(queue, {"", queue.value, false}, message);
    }
    std::optional<std::uint32_t> ready(const model::QueueName& queue) override {
        for (const auto& name : broker_.queues())
            if (name == queue) return static_cast<std::uint32_t>(broker_.ready(queue));
        return std::nullopt;
    }

private:
    void broker_events(std::vector<ports::BrokerEvent>& events) override {
        std::move(events.begin(), events.end(), std::back_inserter(events_));
        events.clear();
    }
    void replied(model::DeliveryKey, model::Reply&&) override {}
    void probed(model::QueueId, const std::string&) override {}

    sim::VirtualTime time_;
    sim::Watch nobody_;
    sim::ModelBroker broker_{time_, sim::Chance{1}, *this, nobody_};
    std::vector<ports::BrokerEvent> events_;
    std::uint64_t names_ = 0;
};

}  // namespace

std::unique_ptr<Stage> make_stage() {
    return std::make_unique<SimStage>();
}

}  // namespace retryd::contract
