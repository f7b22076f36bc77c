#include "amqp/settle.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace retryd::amqp {

bool AckCoalescer::delivered(std::uint64_t tag) {
    if (tag != last_ + 1) return false;
    last_ = tag;
    open_.insert(open_.end(), tag);
    return true;
}

bool AckCoalescer::acked(std::uint64_t tag) {
    if (open_.erase(tag) == 0) return false;
    pending_.push_back(tag);
    return true;
}

bool AckCoalescer::nacked(std::uint64_t tag) {
    return open_.erase(tag) > 0;
}

std::vector<Ack> AckCoalescer::take() {
    const auto oldest_open = open_.empty() ? std::numeric_limits<std::uint64_t>::max() : *open_.begin();
    std::vector<Ack> acks;
    Ack front;
    std::size_t covered = 0;
    for (const std::uint64_t tag : std::exchange(pending_, {})) {
        if (tag > oldest_open) {
            acks.push_back({tag, false});
            continue;
        }
        front.tag = std::max(front.tag, tag);
        ++covered;
    }
    front.multiple = covered > 1;
    if (covered > 0) acks.insert(acks.begin(), front);
    return acks;
}

}  // namespace retryd::amqp
