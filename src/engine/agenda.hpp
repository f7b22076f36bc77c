#pragma once
// Who wants to be woken when. Each topic has one wish at a time; only an earlier one replaces it, and a topic that is
// woken looks itself whether there is something to do, so nothing is ever cancelled.

#include "model/time.hpp"

#include <cstddef>
#include <queue>
#include <vector>

namespace retryd::engine {

class Agenda {
public:
    explicit Agenda(std::size_t topics) : wishes_(topics, model::SteadyTime::max()) {}

    void wish(std::size_t topic, model::SteadyTime when) {
        if (when >= wishes_[topic]) return;
        wishes_[topic] = when;
        queue_.push({when, topic});
    }

    // The topics whose time has come, into `due`.
    void take_due(model::SteadyTime now, std::vector<std::size_t>& due) {
        while (!queue_.empty() && queue_.top().when <= now) {
            const auto [when, topic] = queue_.top();
            queue_.pop();
            if (wishes_[topic] != when) continue;  // replaced by an earlier one, and woken then
            wishes_[topic] = model::SteadyTime::max();
            due.push_back(topic);
        }
    }

    [[nodiscard]] model::SteadyTime next() const { return queue_.empty() ? model::SteadyTime::max() : queue_.top().when; }

private:
    struct Entry {
        model::SteadyTime when;
        std::size_t topic;
        bool operator<(const Entry& other) const { return when > other.when; }  // the earliest on top
    };
    std::vector<model::SteadyTime> wishes_;
    std::priority_queue<Entry> queue_;
};

}  // namespace retryd::engine
