// Whatever comes over the connection to the broker: bytes, the library's reading of them, ours of its frames, and the
// messages put together from those.

#include "amqp/decode.hpp"
#include "fuzz/input.hpp"
#include "fuzz/messages.hpp"
#include "model/ledger.hpp"

#include <memory>

using namespace retryd;
using fuzz::require;

namespace {

struct Destroy {
    void operator()(amqp_connection_state_t state) const { amqp_destroy_connection(state); }
};

class Reader {
public:
    void take(const amqp_frame_t& frame) {
        if (frame.frame_type == AMQP_FRAME_BODY) bodies_ += frame.payload.body_fragment.len;
        const auto incoming = amqp::decode(frame, assembler_);
        if (const auto* deliver = std::get_if<amqp::Deliver>(&incoming)) {
            require(deliver->message != nullptr, "a delivery has its message");
            require(deliver->message->body.size() <= bodies_, "a body is made of what came");
            static_cast<void>(model::read_record(*deliver->message, deliver->arrival, model::Side::lane, {}));
        }
    }

private:
    amqp::Assembler assembler_;
    std::size_t bodies_ = 0;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::unique_ptr<amqp_connection_state_t_, Destroy> state{amqp_new_connection()};
    Reader reader;
    std::string bytes(fuzz::Input(data, size).rest());
    amqp_bytes_t rest{bytes.size(), bytes.data()};
    while (rest.len > 0) {
        amqp_frame_t frame{};
        const int used = amqp_handle_input(state.get(), rest, &frame);
        if (used <= 0) break;
        rest.bytes = static_cast<char*>(rest.bytes) + used;
        rest.len -= static_cast<std::size_t>(used);
        if (frame.frame_type == 0) continue;
        reader.take(frame);
        amqp_maybe_release_buffers(state.get());
    }
    return 0;
}
