#include "engine/hand.hpp"

#include <utility>

namespace retryd::engine {

Held& Hand::add(Held&& held) {
    bytes_ += held.bytes();
    const auto key = held.key;
    return held_.emplace(key, std::move(held)).first->second;
}

void Hand::remove(const Held& held) {
    bytes_ -= held.bytes();
    held_.erase(held.key);
}

Held* Hand::find(model::DeliveryKey key) {
    const auto found = held_.find(key);
    return found == held_.end() ? nullptr : &found->second;
}

}  // namespace retryd::engine
