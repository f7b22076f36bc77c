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

void VirtualTime::at(model::SteadyTime when, Action action) {
    heap_.push_back({std::max(when, steady_), ++sequence_, std::move(action)});
    std::push_heap(heap_.begin(), heap_.end(), later);
}

bool VirtualTime::run_next(model::SteadyTime end) {
    if (heap_.empty() || heap_.front().when > end) return false;
    std::pop_heap(heap_.begin(), heap_.end(), later);
    const Due due = std::move(heap_.back());
    heap_.pop_back();
    steady_ = due.when;
    due.action();
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
