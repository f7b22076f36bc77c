#include "deliver/stream_frame.hpp"

namespace retryd::deliver {
namespace {

constexpr std::size_t usual_room = 64 * 1024;

std::uint32_t read_length(std::string_view bytes) {
    std::uint32_t length = 0;
    for (const char byte : bytes.substr(0, 4)) length = length << 8U | static_cast<unsigned char>(byte);
    return length;
}

void write_length(std::string& frame, std::size_t at, std::size_t length) {
    for (std::size_t i = 0; i < 4; ++i) frame[at + i] = static_cast<char>(length >> (24 - 8 * i) & 0xffU);
}

std::optional<Breach> trouble_with(std::uint32_t header, std::uint32_t body) {
    if (header > max_frame_header) {
        return Breach{"frame_too_large", "frame too large: its header has " + std::to_string(header) + " bytes, at most " +
                                             std::to_string(max_frame_header) + " are allowed"};
    }
    if (body > 0) {
        return Breach{"unexpected_body",
                      "a frame from a consumer has no body, this one has " + std::to_string(body) + " bytes"};
    }
    return std::nullopt;
}

}  // namespace

void FrameReader::feed(std::string_view bytes) {
    if (breach_) return;
    buffer_.erase(0, taken_);
    taken_ = 0;
    // One large frame is not held against the session. (An assignment would keep the room.)
    if (buffer_.empty() && buffer_.capacity() > usual_room) std::string{}.swap(buffer_);
    buffer_ += bytes;
}

std::optional<std::string_view> FrameReader::next() {
    const auto rest = std::string_view(buffer_).substr(taken_);
    if (breach_ || rest.size() < frame_prefix) return std::nullopt;
    const auto header = read_length(rest);
    breach_ = trouble_with(header, read_length(rest.substr(4)));
    if (breach_ || rest.size() - frame_prefix < header) return std::nullopt;
    taken_ += frame_prefix + header;
    return rest.substr(frame_prefix, header);
}

std::string begin_frame() {
    return std::string(frame_prefix, '\0');
}

void end_frame(std::string& frame, std::size_t body_size) {
    write_length(frame, 0, frame.size() - frame_prefix);
    write_length(frame, 4, body_size);
}

}  // namespace retryd::deliver
