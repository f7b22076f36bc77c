#pragma once
// The way out of a call that never returns: sends of the library can block for as long as the peer lives, and only the
// end of the socket ends them. The link's thread lends each socket while it has one; the main thread pulls.
//
// The exit works on a duplicate of its own, so that the number cannot have been given to another file meanwhile.
// A mutex, because both threads hold it at moments that no post can order: the link's thread is stuck in just that call.

#include "amqp/descriptor.hpp"

#include <cstdint>
#include <mutex>

namespace retryd::amqp {

class Exit {
public:
    // --- link thread
    void lend(int socket);  // ends it at once where the exit was pulled already
    void take_back();       // the socket is going away; the duplicate must go too, or the peer never sees the end
    // --- main thread
    void pull();   // ends the socket that is lent, and every one lent until close()
    void close();  // the next connection may live
    // Bytes that have passed the socket that is lent, both as the kernel sees it; none where nothing is lent. A long send that
    // makes progress shows here, and only here, while its thread is in the call.
    struct Traffic {
        std::uint64_t acknowledged = 0;  // by the peer's kernel
        std::uint64_t received = 0;
    };
    [[nodiscard]] Traffic traffic();

private:
    std::mutex mutex_;
    Descriptor lent_;
    bool pulled_ = false;
};

}  // namespace retryd::amqp
