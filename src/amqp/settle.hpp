#pragma once
// Turns settled tags of one channel into as few acks as possible. Pure.
//
// Tags of a channel rise by one with each delivery. An ack with `multiple` settles every open delivery up to its tag, so
// it may be used only for the front: below the oldest open delivery. What lies behind that is acked singly, if it can't wait.
// Only what is open or wants an ack is remembered: a delivery that stays open for days costs nothing for those that come
// after it.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

namespace retryd::amqp {

struct Ack {
    std::uint64_t tag = 0;
    bool multiple = false;
    bool operator==(const Ack&) const = default;
};

class AckCoalescer {
public:
    // False where no honest broker gives this tag: not the one after the last. Then nothing is to be settled.
    [[nodiscard]] bool delivered(std::uint64_t tag);
    // False where the tag is not open (settled before, never delivered): then nothing may be sent for it.
    bool acked(std::uint64_t tag);   // wants an ack: sent with the next take()
    bool nacked(std::uint64_t tag);  // the caller sends the nack itself, at once
    [[nodiscard]] std::size_t pending() const { return pending_.size(); }
    [[nodiscard]] std::size_t remembered() const { return open_.size() + pending_.size(); }  // tags
    // The ack that settles what is pending at the front. The rest stays pending: soon the front may have come so far.
    [[nodiscard]] std::optional<Ack> take_front();
    // The acks that settle everything pending; nothing is pending afterwards.
    [[nodiscard]] std::vector<Ack> take();

private:
    [[nodiscard]] bool close(std::uint64_t tag);

    std::uint64_t last_ = 0;          // the tag of the last delivery
    std::deque<std::uint64_t> open_;  // rising; what is settled is mostly near its front
    std::vector<std::uint64_t> pending_;
};

}  // namespace retryd::amqp
