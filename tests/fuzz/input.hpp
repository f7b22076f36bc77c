#pragma once
// What every fuzz target needs: a way to take an input apart, and a way to say what must hold.
//
// A target is one file with one function, LLVMFuzzerTestOneInput. It takes bytes that a stranger could send, gives them to our
// code, and requires what must hold for all of them. docs/fuzzing.md says how to add one.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace fuzz {

// Ends the process with what was broken: the fuzzer keeps the input, the replay fails the test.
inline void require(bool holds, const char* what) {
    if (holds) return;
    std::fprintf(stderr, "broken: %s\n", what);
    std::abort();
}

// Takes an input apart from the front. At its end numbers are 0 and texts empty.
class Input {
public:
    Input(const std::uint8_t* data, std::size_t size) : rest_(reinterpret_cast<const char*>(data), size) {}

    std::uint64_t number(std::size_t bytes) {
        std::uint64_t value = 0;
        for (const char byte : take(bytes)) value = value << 8U | static_cast<unsigned char>(byte);
        return value;
    }
    bool flag() { return (number(1) & 1U) != 0; }
    std::string_view text(std::size_t longest = 255) {  // with a length byte before it
        const auto length = static_cast<std::size_t>(number(1));
        return take(std::min(length, longest));
    }
    std::string_view line() {  // up to a line feed, which goes too
        const auto taken = take(rest_.find('\n'));
        take(1);
        return taken;
    }
    std::string_view rest() { return take(rest_.size()); }
    [[nodiscard]] bool empty() const { return rest_.empty(); }

private:
    std::string_view take(std::size_t count) {
        const auto taken = rest_.substr(0, count);
        rest_.remove_prefix(taken.size());
        return taken;
    }
    std::string_view rest_;
};

// Cuts `text` into the pieces in which a socket might hand it over: `cuts` says where, again and again.
template <class Take>
void in_pieces(std::string_view text, std::uint64_t cuts, Take take) {
    while (!text.empty()) {
        const auto piece = text.substr(0, 1 + (cuts & 15U));
        cuts = cuts >> 4U | cuts << 60U;
        text.remove_prefix(piece.size());
        if (!take(piece)) return;
    }
}

}  // namespace fuzz
