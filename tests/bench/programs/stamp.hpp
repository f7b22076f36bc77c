#pragma once
// What the publisher writes at the start of each body, so that whoever receives it can tell which it is and how long it took.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace retryd::bench {

// Comparable between the processes of one machine.
[[nodiscard]] inline std::chrono::nanoseconds steady_now() {
    return std::chrono::steady_clock::now().time_since_epoch();
}

struct Stamp {
    std::uint64_t number = 0;         // of the message: 0, 1, 2 …
    std::chrono::nanoseconds sent{};  // steady_now() just before it was published
};

inline constexpr std::size_t smallest_body = sizeof(Stamp);  // bytes

inline void write_stamp(std::string& body, const Stamp& stamp) {
    std::memcpy(body.data(), &stamp, sizeof stamp);
}

// All zero for a body that is too short to have one.
[[nodiscard]] inline Stamp read_stamp(std::string_view body) {
    Stamp stamp;
    if (body.size() >= sizeof stamp) std::memcpy(&stamp, body.data(), sizeof stamp);
    return stamp;
}

}  // namespace retryd::bench
