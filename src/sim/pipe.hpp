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
    using MatterOf = VirtualTime::Matter (*)(const Item&);
    Pipe(VirtualTime& time, Chance chance, MatterOf matter_of, Arrive arrive)
        : time_(time), chance_(chance), matter_of_(matter_of), arrive_(std::move(arrive)) {}

    void send(Item item) {
        const auto earliest = time_.now().steady + chance_.between(model::Microseconds{20}, model::Microseconds{400});
        const auto matter = matter_of_(item);
        const bool overtaken = !under_way_.empty() && under_way_.back().first >= earliest;
        const bool same_time = overtaken && matter_of_(under_way_.back().second) == matter;
        const auto last = overtaken ? under_way_.back().first : earliest;
        const auto when = overtaken && !same_time ? last + model::Microseconds{1} : last;
        under_way_.emplace_back(when, std::move(item));
        if (!same_time) wake_at(when, matter);
    }
    // What is under way never arrives.
    void cut() {
        ++life_;
        under_way_.clear();
    }
    [[nodiscard]] const std::deque<std::pair<model::SteadyTime, Item>>& under_way() const { return under_way_; }
    // While it is held nothing arrives, and nothing is lost.
    void hold(bool held) {
        held_ = held;
        if (!held) wake_at(time_.now().steady, VirtualTime::Matter::message);
    }

private:
    void wake_at(model::SteadyTime when, VirtualTime::Matter matter) {
        const auto wake = [this, life = life_] {
            if (life == life_ && !held_) hand_over();
        };
        time_.at(when, wake, matter);
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
    MatterOf matter_of_;
    Arrive arrive_;
    std::deque<std::pair<model::SteadyTime, Item>> under_way_;
    std::uint64_t life_ = 0;
    bool held_ = false;
};

}  // namespace retryd::sim
