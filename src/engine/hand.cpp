#include "engine/hand.hpp"

#include <utility>

namespace retryd::engine {

Held& Hand::add(Held&& held) {
    bytes_ += cost_of(*held.message);
    const auto key = held.key;
    return held_.emplace(key, std::move(held)).first->second;
}

void Hand::remove(const Held& held) {
    bytes_ -= cost_of(*held.message);
    held_.erase(held.key);
}

Held* Hand::find(model::DeliveryKey key) {
    const auto found = held_.find(key);
    return found == held_.end() ? nullptr : &found->second;
}

}  // namespace retryd::engine
