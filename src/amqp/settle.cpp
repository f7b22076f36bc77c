#include "amqp/settle.hpp"

#include <utility>

namespace retryd::amqp {

void AckCoalescer::delivered(std::uint64_t tag) {
    if (window_.empty()) first_ = tag;
    window_.resize(static_cast<std::size_t>(tag - first_), State::done);  // a gap is nothing that we could settle
    window_.push_back(State::open);
}

AckCoalescer::State* AckCoalescer::open(std::uint64_t tag) {
    if (tag < first_ || tag - first_ >= window_.size()) return nullptr;
    State& state = window_[static_cast<std::size_t>(tag - first_)];
    return state == State::open ? &state : nullptr;
}

bool AckCoalescer::acked(std::uint64_t tag) {
    State* state = open(tag);
    if (state == nullptr) return false;
    *state = State::acked;
    pending_.push_back(tag);
    return true;
}

bool AckCoalescer::nacked(std::uint64_t tag) {
    State* state = open(tag);
    if (state == nullptr) return false;
    *state = State::done;
    return true;
}

std::vector<Ack> AckCoalescer::take() {
    std::vector<Ack> acks;
    Ack front;
    std::size_t covered = 0;
    for (; !window_.empty() && window_.front() != State::open; ++first_, window_.pop_front()) {
        if (window_.front() == State::done) continue;
        front.tag = first_;
        ++covered;
    }
    if (covered > 0) {
        front.multiple = covered > 1;
        acks.push_back(front);
    }
    for (const std::uint64_t tag : std::exchange(pending_, {})) {
        if (tag < first_) continue;  // covered by the front
        window_[static_cast<std::size_t>(tag - first_)] = State::done;
        acks.push_back({tag, false});
    }
    return acks;
}

}  // namespace retryd::amqp
