#pragma once
// A daemon to look at, and an operator that shows it.

#include "model/status.hpp"
#include "ports/operator.hpp"

#include <chrono>
#include <string>
#include <vector>

namespace samples {

using namespace retryd;
using namespace std::chrono_literals;

inline model::QueueView queue(const std::string& name) {
    model::QueueView view;
    view.name.value = name;
    view.consumer = "unix:/run/app.sock";
    view.state = "flowing";
    view.in_hand = 12;
    view.in_flight = 8;
    view.concurrency = view.slots = 16;
    view.subscribed_work = view.subscribed_lane = true;
    return view;
}

inline model::QueueView stalled_queue(const std::string& name) {
    model::QueueView view = queue(name);
    view.state = "consumer-away";
    view.stalls = {{model::Cause::consumer_away, "connect unix:/run/app.sock: No such file or directory", 12s}};
    return view;
}

inline model::StatusView status() {
    model::StatusView view;
    view.version = "0.1.0";
    view.policy_hash = "3f2a9c";
    view.broker_version = "3.10.8";
    view.ready = true;
    view.memory_used = 4096;
    view.memory_limit = 256 * 1024 * 1024;
    view.links = {{"consume", true, false, "svc@127.0.0.1:5672/", ""}, {"publish", true, false, "svc@127.0.0.1:5672/", ""}};
    view.queues = {queue("orders")};
    return view;
}

class Operator final : public ports::Operator {
public:
    model::StatusView view = samples::status();
    model::Figures numbers;
    std::string drained_by;
    std::vector<model::Order> orders;
    std::string ordered_by;
    model::WhyView story;
    [[nodiscard]] model::StatusView status() const override { return view; }
    [[nodiscard]] model::WhyView why(std::string_view id) const override {
        model::WhyView known = story;
        known.id = id;
        return known;
    }
    [[nodiscard]] const model::Figures& figures() const override { return numbers; }
    void drain(std::string_view who) override {
        drained_by = who;
        view.draining = true;
    }
    [[nodiscard]] bool obey(const model::Order& order, std::string_view who) override {
        orders.push_back(order);
        ordered_by = who;
        return order.target != "nobody";
    }
};

}  // namespace samples
