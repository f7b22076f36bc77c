#pragma once
// The stream's frame: the header's length and the body's, 4 bytes each, big-endian; the header, a JSON object; the body.
// Pure. A consumer's frames have no body.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace retryd::deliver {

inline constexpr std::size_t frame_prefix = 8;
inline constexpr std::uint32_t max_frame_header = 1024 * 1024;

// A rule of the protocol that was broken: what the consumer is told in an `error` before its session is closed.
struct Breach {
    std::string_view code;  // a constant of the protocol
    std::string message;
};

// Takes a consumer's bytes as they come, and gives its frames' headers. Lengths are judged before anything is kept for them.
class FrameReader {
public:
    void feed(std::string_view bytes);
    // The next frame's header, valid until feed(). Nothing: more must come first, or there is a breach().
    [[nodiscard]] std::optional<std::string_view> next();
    [[nodiscard]] const std::optional<Breach>& breach() const { return breach_; }     // nothing more is read after it
    [[nodiscard]] std::size_t unfinished() const { return buffer_.size() - taken_; }  // bytes kept
    [[nodiscard]] std::size_t room() const { return buffer_.capacity(); }

private:
    std::string buffer_;
    std::size_t taken_ = 0;
    std::optional<Breach> breach_;
};

// A frame in the making: room for the lengths, then the header is appended.
[[nodiscard]] std::string begin_frame();
// Writes the lengths. What is left to send is the body itself.
void end_frame(std::string& frame, std::size_t body_size);

}  // namespace retryd::deliver
