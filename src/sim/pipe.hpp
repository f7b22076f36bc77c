#pragma once
// One direction of one link: what is sent arrives after a small random latency, in the order in which it was sent.
// What arrives together is handed over together.

#include "sim/chance.hpp"
#include "sim/virtual_time.hpp"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <utility>
#include <vector>

namespace retryd::sim {

template <class Item>
class Pipe {
public:
    using Arrive = std::function<void(std::vector<Item>&)>;
    Pipe(VirtualTime& time, Chance chance, Arrive arrive) : time_(time), chance_(chance), arrive_(std::move(arrive)) {}

    void send(Item item) {
        const auto earliest = time_.now().steady + chance_.between(model::Microseconds{20}, model::Microseconds{400});
        const bool same_time = !under_way_.empty() && under_way_.back().first >= earliest;
        const auto when = same_time ? under_way_.back().first : earliest;
        under_way_.emplace_back(when, std::move(item));
        if (!same_time) wake_at(when);
    }
    // What is under way never arrives.
    void cut() {
        ++life_;
        under_way_.clear();
    }
    // While it is held nothing arrives, and nothing is lost.
    void hold(bool held) {
        held_ = held;
        if (!held) wake_at(time_.now().steady);
    }

private:
    void wake_at(model::SteadyTime when) {
        time_.at(when, [this, life = life_] {
            if (life == life_ && !held_) hand_over();
        });
    }
    void hand_over() {
        std::vector<Item> batch;
        while (!under_way_.empty() && under_way_.front().first <= time_.now().steady) {
            batch.push_back(std::move(under_way_.front().second));
            under_way_.pop_front();
        }
        if (!batch.empty()) arrive_(batch);
    }

    VirtualTime& time_;
    Chance chance_;
    Arrive arrive_;
    std::deque<std::pair<model::SteadyTime, Item>> under_way_;
    std::uint64_t life_ = 0;
    bool held_ = false;
};

}  // namespace retryd::sim
