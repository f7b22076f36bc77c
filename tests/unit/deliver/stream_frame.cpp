#include "deliver/stream_frame.hpp"

#include <catch2/catch.hpp>

#include <random>
#include <vector>

using namespace retryd::deliver;

namespace {

std::string framed(std::string_view header, std::size_t body = 0) {
    auto frame = begin_frame();
    frame += header;
    end_frame(frame, body);
    return frame;
}

// The headers of all frames, read from parts of these sizes (the last one as often as it takes).
std::vector<std::string> read(std::string_view stream, std::size_t first, std::size_t rest, FrameReader& reader) {
    std::vector<std::string> headers;
    for (auto size = first; !stream.empty(); size = rest) {
        reader.feed(stream.substr(0, size));
        stream.remove_prefix(std::min(size, stream.size()));
        while (const auto header = reader.next()) headers.emplace_back(*header);
    }
    return headers;
}

}  // namespace

TEST_CASE("a frame begins with two lengths, big-endian") {
    CHECK(framed(R"({"op":"ping"})", 0x01020304) == std::string("\0\0\0\x0d\x01\x02\x03\x04", 8) + R"({"op":"ping"})");
    CHECK(framed(std::string(300, ' ')).substr(0, 8) == std::string("\0\0\x01\x2c\0\0\0\0", 8));
}

TEST_CASE("frames are read whole wherever the stream is cut") {
    const std::vector<std::string> sent{R"({"op":"hello"})", "", std::string(1000, 'x'), "{}"};
    std::string stream;
    for (const auto& header : sent) stream += framed(header);
    for (std::size_t cut = 1; cut < stream.size(); ++cut) {
        FrameReader reader;
        REQUIRE(read(stream, cut, stream.size(), reader) == sent);
        CHECK_FALSE(reader.breach());
    }
    FrameReader reader;
    CHECK(read(stream, 1, 1, reader) == sent);
}

TEST_CASE("a frame that is announced too large is refused before it comes") {
    const auto announced = GENERATE(std::string("\xff\xff\xff\xff\0\0\0\0", 8), std::string("\x80\0\0\0\0\0\0\0", 8),
                                    std::string("\xff\xff\xff\xff\xff\xff\xff\xff", 8), std::string("\0\x10\0\x01\0\0\0\0", 8));
    FrameReader reader;
    reader.feed(announced);
    CHECK_FALSE(reader.next());
    REQUIRE(reader.breach());
    CHECK(reader.breach()->code == "frame_too_large");
    CHECK(reader.breach()->message.starts_with("frame too large"));
}

TEST_CASE("a header of 1 MiB is read") {
    FrameReader reader;
    const std::string header(max_frame_header, ' ');
    reader.feed(framed(header));
    const auto read = reader.next();
    REQUIRE(read);
    CHECK(read->size() == header.size());
}

TEST_CASE("the room that a large frame took is given back") {
    FrameReader reader;
    auto frame = begin_frame();
    frame += std::string(max_frame_header, ' ');
    end_frame(frame, 0);
    reader.feed(frame);
    REQUIRE(reader.next().has_value());
    CHECK(reader.unfinished() == 0);
    reader.feed("\0");
    CHECK(reader.room() < 64 * 1024);
}

TEST_CASE("a body is refused, and nothing is read after it") {
    FrameReader reader;
    reader.feed(framed("{}") + framed("{}", 1) + "x" + framed("{}"));
    CHECK(reader.next());
    CHECK_FALSE(reader.next());
    REQUIRE(reader.breach());
    CHECK(reader.breach()->code == "unexpected_body");
    reader.feed(framed("{}"));
    CHECK_FALSE(reader.next());
}

TEST_CASE("random bytes lead to frames or to a breach, and to no more memory than they have") {
    std::mt19937 random{20261130};
    for (int round = 0; round < 2000; ++round) {
        FrameReader reader;
        std::string bytes(random() % 64 + 8, '\0');
        for (auto& byte : bytes) byte = static_cast<char>(random() % 4 == 0 ? random() : 0);
        std::size_t read = 0;
        reader.feed(bytes);
        while (const auto header = reader.next()) read += frame_prefix + header->size();
        REQUIRE(read <= bytes.size());
    }
}
