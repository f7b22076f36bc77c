#include "app/spare_memory.hpp"

#include <malloc.h>

#include <algorithm>

namespace retryd::app {

void give_large_bodies_back_at_once() {
    constexpr int from_bytes = 128 * 1024;
    ::mallopt(M_MMAP_THRESHOLD, from_bytes);
}

void give_free_memory_back() {
    ::malloc_trim(0);
}

void SpareMemory::in_hand(std::uint64_t bytes) {
    most_ = std::max(most_, bytes);
    if (most_ < worth_it || bytes > most_ / 4) return;
    most_ = bytes;
    give_back_();
}

}  // namespace retryd::app
