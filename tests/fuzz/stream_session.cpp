// A consumer's side of the stream, byte by byte: frames, what they say, and what a session makes of it. However the bytes are
// cut, the same is heard; nothing is answered twice or without having been given; no number overflows.

#include "deliver/stream_session.hpp"
#include "deliver/stream_frame.hpp"
#include "fuzz/input.hpp"

#include <set>
#include <vector>

using namespace retryd;
using fuzz::require;

namespace {

using Kinds = std::vector<std::size_t>;  // of what was heard, in order

class Conversation {
public:
    explicit Conversation(std::uint64_t abandons) : abandons_(abandons) {}

    bool hear(std::string_view bytes) {
        reader_.feed(bytes);
        while (!over_) {
            const auto header = reader_.next();
            if (!header) break;
            require(header->size() <= deliver::max_frame_header, "a header has its bound");
            const auto heard = session_.hear(*header, now_ += std::chrono::milliseconds{1});
            kinds_.push_back(heard.index());
            over_ = std::holds_alternative<deliver::Breach>(heard);
            check(heard);
            if (!over_) give();
        }
        over_ = over_ || reader_.breach().has_value();
        return !over_;
    }
    [[nodiscard]] Kinds kinds() const { return kinds_; }

private:
    void check(const deliver::Heard& heard) {
        require(session_.credit() <= deliver::most_credit, "credit has its bound");
        if (const auto* answered = std::get_if<deliver::Answered>(&heard)) {
            require(waiting_.erase(answered->key.value) == 1, "what is answered was given and not answered yet");
            if (answered->reply.retry_after) check(answered->reply.retry_after->span.value());
        }
        if (const auto* extended = std::get_if<deliver::Extended>(&heard)) {
            require(waiting_.contains(extended->key.value), "what is extended was given and not answered yet");
            check(extended->more);
        }
        if (const auto* breach = std::get_if<deliver::Breach>(&heard)) {
            require(!breach->code.empty() && !breach->message.empty(), "who breaks off is told why");
        }
        require(session_.unanswered().size() == waiting_.size(), "nothing is forgotten");
    }
    static void check(model::Milliseconds span) {
        require(span.count() >= 0 && span <= std::chrono::years{100}, "a span is fit to be added");
    }
    // A message for each frame that came, and now and then one of them times out.
    void give() {
        if (!session_.is_present() || session_.credit() == 0 || waiting_.size() > 64) return;
        const model::DeliveryKey key{++given_};
        const auto id = session_.give(key, now_);
        waiting_.insert(key.value);
        if ((abandons_ >> (given_ % 64) & 1U) == 0) return;
        session_.abandon(id);
        waiting_.erase(key.value);
    }

    std::uint64_t abandons_;
    model::SteadyTime now_{std::chrono::hours{1}};
    deliver::FrameReader reader_;
    deliver::StreamSession session_{now_};
    std::uint64_t given_ = 0;
    std::set<std::uint64_t> waiting_;
    Kinds kinds_;
    bool over_ = false;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::Input in(data, size);
    const auto cuts = in.number(8);
    const auto abandons = in.number(8);
    const auto bytes = in.rest();
    Conversation whole(abandons);
    whole.hear(bytes);
    Conversation cut(abandons);
    fuzz::in_pieces(bytes, cuts, [&](std::string_view piece) { return cut.hear(piece); });
    require(whole.kinds() == cut.kinds(), "the same is heard however it was cut");
    return 0;
}
