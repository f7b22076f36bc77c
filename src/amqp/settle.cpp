#include "amqp/settle.hpp"

#include <algorithm>
#include <utility>

namespace retryd::amqp {

bool AckCoalescer::delivered(std::uint64_t tag) {
    if (tag != last_ + 1) return false;
    last_ = tag;
    open_.push_back(tag);
    return true;
}

bool AckCoalescer::close(std::uint64_t tag) {
    const auto at = std::lower_bound(open_.begin(), open_.end(), tag);
    if (at == open_.end() || *at != tag) return false;
    open_.erase(at);
    return true;
}

bool AckCoalescer::acked(std::uint64_t tag) {
    if (!close(tag)) return false;
    pending_.push_back(tag);
    return true;
}

bool AckCoalescer::nacked(std::uint64_t tag) {
    return close(tag);
}

std::optional<Ack> AckCoalescer::take_front() {
    const auto is_behind = [this](std::uint64_t tag) { return !open_.empty() && tag > open_.front(); };
    const auto front = std::partition(pending_.begin(), pending_.end(), is_behind);
    if (front == pending_.end()) return std::nullopt;
    const Ack ack{*std::max_element(front, pending_.end()), pending_.end() - front > 1};
    pending_.erase(front, pending_.end());
    return ack;
}

std::vector<Ack> AckCoalescer::take() {
    std::vector<Ack> acks;
    if (const auto front = take_front()) acks.push_back(*front);
    for (const std::uint64_t tag : std::exchange(pending_, {})) acks.push_back({tag, false});
    return acks;
}

}  // namespace retryd::amqp
