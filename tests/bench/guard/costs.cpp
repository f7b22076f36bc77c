// Prints how often memory is allocated for one message on one of the ways that a message goes: a number, the same at each run.
// Run under callgrind with --toggle-collect=measured, it tells the instructions.
//
// guard_costs stream|http success|fails-once

#include "rig/rig.hpp"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <string_view>

namespace {

constexpr std::uint32_t batch = 64;
constexpr std::uint32_t warm_up = 20;  // batches, until everything that grows once has grown
constexpr std::uint32_t batches = 30;

std::uint64_t allocations = 0;

void* allocate(std::size_t size) {
    ++allocations;
    if (void* const room = std::malloc(size)) return room;
    throw std::bad_alloc{};
}

void go(retryd::bench::Rig& rig, bool fails, std::uint32_t times) {
    for (std::uint32_t i = 0; i < times; ++i) {
        if (fails) {
            rig.fail_once(batch);
        } else {
            rig.succeed(batch);
        }
    }
}

}  // namespace

void* operator new(std::size_t size) {
    return allocate(size);
}
void operator delete(void* room) noexcept {
    std::free(room);
}
void operator delete(void* room, std::size_t) noexcept {
    std::free(room);
}

// By this name callgrind knows what to count.
extern "C" __attribute__((noinline)) void measured(retryd::bench::Rig& rig, bool fails);
void measured(retryd::bench::Rig& rig, bool fails) {
    go(rig, fails, batches);
}

int main(int count, char** words) {
    using retryd::bench::Transport;
    if (count != 3) return 2;
    const auto transport = std::string_view(words[1]) == "http" ? Transport::http : Transport::stream;
    const bool fails = std::string_view(words[2]) == "fails-once";
    retryd::bench::Rig rig(transport);
    go(rig, fails, warm_up);
    const auto before = allocations;
    measured(rig, fails);
    std::printf("%.2f\n", static_cast<double>(allocations - before) / (batch * batches));
}
