#include "rig/mouth.hpp"

#include "deliver/http_reply_reader.hpp"
#include "deliver/http_request.hpp"
#include "deliver/stream_frame.hpp"
#include "deliver/stream_message.hpp"
#include "deliver/stream_ops.hpp"

#include <cstdlib>
#include <string_view>
#include <utility>
#include <variant>

namespace retryd::bench {
namespace {

class Silent final : public Mouth {
public:
    void say(const ports::Delivery&) override {}
    model::Reply hear(bool success) override {
        model::Reply reply;
        reply.stated = success ? model::Outcome::success : model::Outcome::transient;
        return reply;
    }
};

std::string framed(std::string_view header) {
    auto frame = deliver::begin_frame();
    frame += header;
    deliver::end_frame(frame, 0);
    return frame;
}

class Stream final : public Mouth {
public:
    explicit Stream(model::QueueName queue) : queue_(std::move(queue)) {}

    void say(const ports::Delivery& delivery) override {
        const auto frame = deliver::message_frame(delivery, ++id_, queue_);
        if (frame.size() <= deliver::frame_prefix) std::abort();
    }
    model::Reply hear(bool success) override {
        reader_.feed(success ? success_ : failure_);
        const auto header = reader_.next();
        if (!header) std::abort();
        auto op = deliver::read_op(*header);
        return std::move(std::get<deliver::ReplyOp>(op).reply);
    }

private:
    model::QueueName queue_;
    std::uint64_t id_ = 0;
    deliver::FrameReader reader_;
    std::string success_ = framed(R"({"op":"reply","id":17,"outcome":"success","credit":1})");
    std::string failure_ = framed(R"({"op":"reply","id":17,"outcome":"transient","credit":1})");
};

class Http final : public Mouth {
public:
    explicit Http(const model::QueuePolicy& queue) : queue_(queue) {}

    void say(const ports::Delivery& delivery) override {
        if (deliver::request_head(delivery, queue_).empty()) std::abort();
    }
    model::Reply hear(bool success) override {
        deliver::ReplyReader reader(queue_.deliver.max_reply);
        const auto* const text = success ? "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
                                         : "HTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\n\r\n";
        if (reader.feed(text) != deliver::ReplyReader::State::complete) std::abort();
        return reader.reply();
    }

private:
    const model::QueuePolicy& queue_;
};

}  // namespace

std::unique_ptr<Mouth> mouth_for(Transport transport, const model::QueuePolicy& queue) {
    switch (transport) {
        case Transport::none: return std::make_unique<Silent>();
        case Transport::stream: return std::make_unique<Stream>(queue.name);
        case Transport::http: return std::make_unique<Http>(queue);
    }
    std::abort();
}

}  // namespace retryd::bench
