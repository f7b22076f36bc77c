// A consumer over the stream that replies at once, or never. Each reply gives back the credit that its message took.
//
// bench_stream_client --socket PATH --credit N --count N [--fail-first 1] [--hold 1] [--watch PIDS] [--records FILE]
//
// --fail-first 1: the first attempt of each message is answered `transient`; only the others count, and their records are the
// spans from that answer to their arrival. Else the records are the spans from publish to arrival.
// --hold 1: answers nothing; ends when the other side does.

#include "programs/stamp.hpp"
#include "programs/tally.hpp"
#include "programs/unix_socket.hpp"

#include <charconv>
#include <string_view>

namespace {

using namespace retryd::bench;

constexpr std::size_t prefix = 8;  // two lengths

std::size_t length_at(std::string_view bytes, std::size_t at) {
    std::size_t length = 0;
    for (const char byte : bytes.substr(at, 4)) length = length << 8U | static_cast<unsigned char>(byte);
    return length;
}

void append_frame(std::string& out, std::string_view header) {
    for (const unsigned shift : {24U, 16U, 8U, 0U}) out += static_cast<char>(header.size() >> shift & 0xffU);
    out.append(4, '\0');
    out += header;
}

// A whole number, the first one behind `name` and a colon.
std::uint64_t number_in(std::string_view header, std::string_view name) {
    const auto at = header.find(name);
    std::uint64_t value = 0;
    if (at != std::string_view::npos) std::from_chars(header.data() + at + name.size(), header.data() + header.size(), value);
    return value;
}

class StreamClient {
public:
    StreamClient(const Options& options, Tally& tally)
        : tally_(tally),
          socket_(options.text("socket")),
          fails_first_(options.number("fail-first", 0) != 0),
          holds_(options.number("hold", 0) != 0),
          failed_at_(fails_first_ ? options.number("count") : 0) {
        const auto credit = std::to_string(options.number("credit"));
        append_frame(replies_, R"({"op":"hello","protocol":1,"credit":)" + credit + R"(,"name":"bench"})");
    }

    void run() {
        while (holds_ || !tally_.complete()) {
            socket_.write(replies_);
            replies_.clear();
            if (!socket_.read_some(input_)) return;
            input_.erase(0, take_frames());
        }
        socket_.write(replies_);
    }

private:
    // How many bytes whole frames had.
    std::size_t take_frames() {
        const std::string_view all = input_;
        std::size_t at = 0;
        while (all.size() - at >= prefix) {
            const auto header = length_at(all, at);
            const auto body = length_at(all, at + 4);
            if (all.size() - at - prefix < header + body) break;
            take(all.substr(at + prefix, header), all.substr(at + prefix + header, body));
            at += prefix + header + body;
        }
        return at;
    }

    void take(std::string_view header, std::string_view body) {
        if (header.find(R"("op":"message")") == std::string_view::npos) return other(header);
        tally_.began();
        if (holds_) return tally_.handled();
        const auto stamp = read_stamp(body);
        const auto id = number_in(header, R"("id":)");
        if (!fails_first_) {
            tally_.note(stamp.number, body.size(), steady_now() - stamp.sent);
            return reply(id, "success");
        }
        auto& failed = failed_at_.at(stamp.number);
        if (failed.count() == 0) {
            failed = steady_now();
            return reply(id, "transient");
        }
        tally_.note(stamp.number, body.size(), steady_now() - failed);
        reply(id, "success");
    }

    void other(std::string_view header) {
        if (header.find(R"("op":"ping")") != std::string_view::npos) append_frame(replies_, R"({"op":"pong"})");
        if (header.find(R"("op":"error")") != std::string_view::npos) give_up("retryd said", std::string(header));
    }

    void reply(std::uint64_t id, std::string_view outcome) {
        reply_ = R"({"op":"reply","id":)";
        reply_ += std::to_string(id);
        reply_ += R"(,"outcome":")";
        reply_ += outcome;
        reply_ += R"(","credit":1})";
        append_frame(replies_, reply_);
    }

    Tally& tally_;
    UnixSocket socket_;
    bool fails_first_;
    bool holds_;
    std::vector<std::chrono::nanoseconds> failed_at_;  // by number; zero: not yet
    std::string input_, replies_, reply_;
};

}  // namespace

int main(int count, char** words) {
    const Options options(count, words);
    Tally tally(options);
    StreamClient client(options, tally);
    client.run();
    tally.print();
}
