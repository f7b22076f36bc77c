#pragma once
// What a consumer says on the stream, read from a frame's header. Pure. Unknown members are ignored.

#include "deliver/stream_frame.hpp"
#include "model/outcome.hpp"
#include "model/time.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

namespace retryd::deliver {

inline constexpr std::uint32_t most_credit = 1'000'000;  // of a session: what is given beyond is as good as this

struct HelloOp {
    std::uint32_t credit = 0;
};
struct ReplyOp {
    std::uint64_t id = 0;
    model::Reply reply;
    std::uint32_t credit = 0;  // given back with it
};
struct CreditOp {
    std::uint32_t credit = 0;
};
struct ExtendOp {
    std::uint64_t id = 0;
    model::Milliseconds more{0};
};
struct PongOp {};
struct LeaveOp {};
using ConsumerOp = std::variant<HelloOp, ReplyOp, CreditOp, ExtendOp, PongOp, LeaveOp, Breach>;

[[nodiscard]] ConsumerOp read_op(std::string_view header);

}  // namespace retryd::deliver
