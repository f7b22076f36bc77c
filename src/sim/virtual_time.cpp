#include "sim/virtual_time.hpp"

#include <algorithm>
#include <utility>

namespace retryd::sim {

bool VirtualTime::later(const Due& a, const Due& b) {
    return a.when != b.when ? a.when > b.when : a.sequence > b.sequence;
}

model::Milliseconds VirtualTime::elapsed() const {
    return std::chrono::floor<model::Milliseconds>(steady_.time_since_epoch());
}

void VirtualTime::at(model::SteadyTime when, Action action, Matter matter) {
    heap_.push_back({std::max(when, steady_), ++sequence_, std::move(action), matter});
    std::push_heap(heap_.begin(), heap_.end(), later);
}

bool VirtualTime::run_next(model::SteadyTime end) {
    if (heap_.empty() || heap_.front().when > end) return false;
    std::pop_heap(heap_.begin(), heap_.end(), later);
    const Due due = std::move(heap_.back());
    heap_.pop_back();
    steady_ = std::max(steady_, due.when);
    due.action();
    return true;
}

std::size_t VirtualTime::due_within(model::Microseconds window) const {
    const auto end = steady_ + window;
    return static_cast<std::size_t>(std::count_if(heap_.begin(), heap_.end(), [&](const Due& due) { return due.when <= end; }));
}

void VirtualTime::run_late(std::vector<Due>::iterator chosen) {
    const Due due = std::move(*chosen);
    heap_.erase(chosen);
    std::make_heap(heap_.begin(), heap_.end(), later);
    steady_ = std::max(steady_, due.when);
    due.action();
}

bool VirtualTime::run_nth(std::size_t n) {
    if (n >= heap_.size()) return false;
    const auto chosen = heap_.begin() + static_cast<std::ptrdiff_t>(n);
    std::nth_element(heap_.begin(), chosen, heap_.end(), [](const Due& a, const Due& b) { return later(b, a); });
    run_late(chosen);
    return true;
}

bool VirtualTime::run_chatter(model::Microseconds window) {
    const auto is_due = [end = steady_ + window](const Due& due) { return due.matter == Matter::chatter && due.when <= end; };
    auto first = heap_.end();
    for (auto it = heap_.begin(); it != heap_.end(); ++it)
        if (is_due(*it) && (first == heap_.end() || later(*first, *it))) first = it;
    if (first == heap_.end()) return false;
    run_late(first);
    return true;
}

bool VirtualTime::run_until(const std::function<bool()>& done, model::Microseconds limit) {
    const auto end = steady_ + limit;
    while (!done()) {
        if (run_next(end)) continue;
        steady_ = end;
        return false;
    }
    return true;
}

void VirtualTime::run_for(model::Microseconds span) {
    run_until([] { return false; }, span);
}

}  // namespace retryd::sim
