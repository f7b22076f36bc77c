#pragma once
// Turns settled tags of one channel into as few acks as possible. Pure.
//
// Tags of a channel rise by one with each delivery. An ack with `multiple` settles every open delivery up to its tag, so
// it may be used only for the front: as far as everything is settled. What lies behind an open delivery is acked singly.

#include <cstdint>
#include <deque>
#include <vector>

namespace retryd::amqp {

struct Ack {
    std::uint64_t tag = 0;
    bool multiple = false;
    bool operator==(const Ack&) const = default;
};

class AckCoalescer {
public:
    void delivered(std::uint64_t tag);
    // False where the tag is not open (settled before, never delivered): then nothing may be sent for it.
    bool acked(std::uint64_t tag);   // wants an ack: sent with the next take()
    bool nacked(std::uint64_t tag);  // the caller sends the nack itself, at once
    [[nodiscard]] std::size_t pending() const { return pending_.size(); }
    // The acks that settle everything pending; nothing is pending afterwards.
    [[nodiscard]] std::vector<Ack> take();

private:
    enum class State : std::uint8_t { open, acked, done };
    [[nodiscard]] State* open(std::uint64_t tag);

    std::uint64_t first_ = 1;             // the tag of window_.front()
    std::deque<State> window_;            // begins with the oldest tag that is not done
    std::vector<std::uint64_t> pending_;  // tags in state acked
};

}  // namespace retryd::amqp
