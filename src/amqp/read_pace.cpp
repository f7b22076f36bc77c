#include "amqp/read_pace.hpp"

namespace retryd::amqp {

void ReadPace::looked(std::size_t messages, double share, model::SteadyTime now) {
    if (now - begun_ >= span) {
        busy_ = count_ >= much && now - begun_ < 2 * span;
        begun_ = now;
        count_ = 0;
    }
    count_ += messages;
    brought_little_ = messages > 0 && share < little;
}

}  // namespace retryd::amqp
