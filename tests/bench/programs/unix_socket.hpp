#pragma once
// A Unix socket as the benchmark's consumers need it: blocking, or told when it can be read. What goes wrong ends the program.

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace retryd::bench {

class UnixSocket {
public:
    // Connects; waits until somebody listens there.
    explicit UnixSocket(const std::string& path);
    // One that was accepted.
    explicit UnixSocket(int descriptor) : descriptor_(descriptor) {}
    ~UnixSocket();
    UnixSocket(UnixSocket&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
    UnixSocket& operator=(UnixSocket&&) = delete;
    UnixSocket(const UnixSocket&) = delete;
    UnixSocket& operator=(const UnixSocket&) = delete;

    void write(std::string_view bytes);
    // One read, appended; false: the other side has ended.
    [[nodiscard]] bool read_some(std::string& to);
    [[nodiscard]] int descriptor() const { return descriptor_; }

private:
    int descriptor_;
};

// Listens, in place of a file that was left behind.
[[nodiscard]] UnixSocket listen_at(const std::string& path);

}  // namespace retryd::bench
