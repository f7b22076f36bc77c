// A consumer's reply: however its bytes are cut on the way, the same is read from it, and nothing is read for ever.

#include "deliver/http_reply_reader.hpp"
#include "fuzz/input.hpp"

#include <chrono>

using namespace retryd;
using fuzz::require;
using State = deliver::ReplyReader::State;

namespace {

State read(deliver::ReplyReader& reader, std::string_view bytes, std::uint64_t cuts) {
    auto state = State::reading;
    fuzz::in_pieces(bytes, cuts, [&](std::string_view piece) {
        state = reader.feed(piece);
        return state == State::reading;
    });
    return state == State::reading ? reader.end_of_stream() : state;
}

void check(const model::Reply& reply) {
    require(reply.status >= 200 && reply.status <= 999, "the last status decides");
    require(!(reply.stated && reply.misstated), "an outcome is stated or misstated");
    if (!reply.retry_after) return;
    require(reply.retry_after->span.has_value() != reply.retry_after->until.has_value(), "a Retry-After is a span or a time");
    if (reply.retry_after->span) require(reply.retry_after->span->count() >= 0, "no span is negative");
    if (reply.retry_after->span) require(*reply.retry_after->span <= std::chrono::years{100}, "nor too long to add");
}

bool same(const model::Reply& one, const model::Reply& other) {
    return one.status == other.status && one.stated == other.stated && one.misstated == other.misstated &&
           one.error_type == other.error_type && one.error_message == other.error_message &&
           one.dependency == other.dependency && one.app_version == other.app_version &&
           one.retry_after.has_value() == other.retry_after.has_value();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::Input in(data, size);
    const auto cuts = in.number(8);
    const model::ByteCount max_body{in.number(2)};
    const auto bytes = in.rest();

    deliver::ReplyReader whole(max_body);
    auto state = bytes.empty() ? State::reading : whole.feed(bytes);
    if (state == State::reading) state = whole.end_of_stream();
    deliver::ReplyReader cut(max_body);
    const auto cut_state = read(cut, bytes, cuts);
    require(state != State::reading && cut_state != State::reading, "the end of the stream is an end");
    require(state == cut_state, "a reply is whole or broken however it was cut");
    require(state != State::broken || !whole.trouble().empty(), "what is broken has its trouble");
    if (state == State::broken) return 0;
    check(whole.reply());
    require(same(whole.reply(), cut.reply()), "a reply says the same however it was cut");
    return 0;
}
