#pragma once
// What was published on the channel and is not confirmed yet. Pure.
//
// The broker numbers publishes from 1 and confirms by number, singly or all up to one. An unroutable copy comes back
// first and is confirmed all the same: "confirmed" then means only "dealt with", so the return must have marked it.
// Only what is open is remembered: a confirm that is long in coming costs nothing for those that come meanwhile.

#include "ports/broker.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace retryd::amqp {

class ConfirmWindow {
public:
    // The next publish on the channel: numbers are given in the order of the calls.
    void sent(ports::PublishKey key, std::string queue, std::string id);
    // The copy that came back: the oldest with this retryd-id and routing key that has not come back yet.
    // Nothing where no such copy is open. The confirm that follows is swallowed.
    [[nodiscard]] std::optional<ports::PublishKey> returned(std::string_view id, std::string_view routing_key);
    // The keys that this confirm decides, oldest first; returned ones and unknown numbers left out.
    [[nodiscard]] std::vector<ports::PublishKey> confirmed(std::uint64_t tag, bool multiple);
    [[nodiscard]] std::size_t open() const { return copies_.size(); }
    // A new channel counts from 1 again; what was open is void.
    void reset() { *this = ConfirmWindow{}; }

private:
    struct Copy {
        ports::PublishKey key;
        std::string queue;
        std::string id;
        bool returned = false;
    };

    std::uint64_t last_ = 0;
    std::map<std::uint64_t, Copy> copies_;  // by number
};

}  // namespace retryd::amqp
