#pragma once
// Gives memory back to the system after a rush. The C library keeps what small blocks took until it is asked: after 200 MiB of
// messages of 10 KiB it would hold nearly all of that for ever.

#include <cstdint>
#include <functional>
#include <utility>

namespace retryd::app {

// What is let go and from 128 KiB on goes back at once from now on. Left alone, the library raises that mark to the largest block
// that it has seen, up to 32 MiB. At the start, once.
void give_large_bodies_back_at_once();

void give_free_memory_back();

class SpareMemory {
public:
    static constexpr std::uint64_t worth_it = std::uint64_t{16} << 20U;  // bytes

    explicit SpareMemory(std::function<void()> give_back) : give_back_(std::move(give_back)) {}

    // So many bytes of messages are in hand now; may be said as often as one likes. Gives back when a quarter is left of the
    // most that was in hand since the last time.
    void in_hand(std::uint64_t bytes);

private:
    std::function<void()> give_back_;
    std::uint64_t most_ = 0;
};

}  // namespace retryd::app
