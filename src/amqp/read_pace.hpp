#pragma once
// When a link looks at its socket again. Where thousands of messages a second come by ones and twos, as they do from a broker
// that is busy itself, a look and a hand-over for each costs more than the message; a moment later there are more.
//
// So it rests after a look that brought something, but only where much comes, and where that was little of what the broker may
// send without an ack: neither a message that comes alone waits, nor a queue with a small prefetch.

#include "model/time.hpp"

#include <chrono>
#include <cstddef>

namespace retryd::amqp {

class ReadPace {
public:
    static constexpr std::chrono::milliseconds rest{2};

    // A look brought so many messages; `share`: of what the broker may send without an ack, 1 is a whole prefetch.
    void looked(std::size_t messages, double share, model::SteadyTime now);
    [[nodiscard]] bool rests() const { return busy_ && brought_little_; }

private:
    static constexpr std::chrono::milliseconds span{10};
    static constexpr std::size_t much = 20;       // messages in a span
    static constexpr double little = 1.0 / 16.0;  // of a prefetch

    model::SteadyTime begun_{};  // of the span
    std::size_t count_ = 0;      // in it
    bool busy_ = false;          // the span before
    bool brought_little_ = false;
};

}  // namespace retryd::amqp
