#include "amqp/pump.hpp"

#include "amqp/assembler.hpp"
#include "amqp/consume_session.hpp"
#include "amqp/decode.hpp"
#include "amqp/methods.hpp"
#include "amqp/publish_session.hpp"
#include "amqp/read_pace.hpp"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include <algorithm>
#include <chrono>
#include <exception>
#include <utility>
#include <variant>

namespace retryd::amqp {

namespace asio = boost::asio;
using boost::system::error_code;
using namespace std::chrono_literals;

namespace {

// A turn reads no more than this before sends and events get theirs.
constexpr std::size_t most_frames = 500;
constexpr std::size_t most_bytes = 1024 * 1024;
// While reading is stopped: RabbitMQ closes a connection that takes too little (50 KiB a second are not enough where the system's
// buffers have grown: it waits 15 s for room, and the system tells of room only when a third of a buffer is free), and heartbeats
// lie behind data and are sent by reads only. So it goes on in sips: more than the library's buffer of 128 KiB, so that at least
// one look at the socket tells it that the broker lives, and as rare as broker and heartbeat allow.
constexpr std::size_t sip = 240 * 1024;
constexpr std::chrono::milliseconds between_sips = 2s;
// Bytes of messages that the main loop has been told of and has not taken yet; over that it is not told of more.
constexpr std::size_t most_untaken = 4 * 1024 * 1024;
// What a message will cost in hand: what is under way counts as it will there.
constexpr std::size_t properties_kept = 4;
constexpr std::size_t overhead_of_one = 2048;

constexpr auto flush_after = 5ms;  // acks that could go together with others
constexpr auto close_bound = 5s;   // a busy broker may still have acks to read

std::size_t size_of(const amqp_frame_t& frame) {
    switch (frame.frame_type) {
        case AMQP_FRAME_HEADER: return frame.payload.properties.raw.len;
        case AMQP_FRAME_BODY: return frame.payload.body_fragment.len;
        default: return 0;
    }
}

}  // namespace

std::size_t bytes_in(const Events& events) {
    std::size_t bytes = 0;
    for (const auto& event : events) {
        const auto* delivered = std::get_if<ports::Delivered>(&event);
        if (delivered == nullptr) continue;
        const auto& message = *delivered->message;
        bytes += message.body.size() + properties_kept * message.properties.size() + overhead_of_one;
    }
    return bytes;
}

struct Pump::Live {
    Live(asio::io_context& context, std::unique_ptr<Connection> opened)
        : connection(std::move(opened)),
          socket(context, connection->duplicate().release()),
          tick(context),
          flush(context),
          rest(context),
          bound(context) {}

    std::unique_ptr<Connection> connection;
    Assembler assembler;
    std::unique_ptr<Session> session;
    ReadPace pace;
    asio::posix::stream_descriptor socket;  // the duplicate: only to wait on
    asio::steady_timer tick;
    asio::steady_timer flush;
    asio::steady_timer rest;
    asio::steady_timer bound;  // of a close
    bool watched = false;      // a turn comes when the socket is readable
    bool posted = false;       // a turn comes at once
    bool resting = false;      // a turn comes after a rest
    bool unread = true;        // the last drain did not come to the end
    bool flush_pending = false;
    bool closing = false;  // connection.close is sent
    std::chrono::steady_clock::time_point next_sip{};
};

Pump::Pump(ports::Link link, const model::BrokerPolicy& policy, Introduction introduction, Exit& exit, Report report)
    : link_(link), policy_(policy), introduction_(std::move(introduction)), exit_(exit), report_(std::move(report)) {}

Pump::~Pump() = default;

void Pump::run() {
    const auto busy = asio::make_work_guard(context_);
    for (;;) {
        try {
            context_.run();
            break;
        } catch (const std::exception& broken) {  // one of the three doors: it costs this connection
            go_down(false, std::string{"internal error: "} + broken.what());
        }
    }
    live_.reset();
    exit_.take_back();
}

void Pump::connect(std::size_t address) {
    auto connection = Connection::open(policy_.addresses[address], policy_, introduction_, exit_);
    if (!connection) return go_down(connection.error().code == model::ProblemCode::refused, connection.error().what);
    live_ = std::make_unique<Live>(context_, std::move(*connection));
    Connection& opened = *live_->connection;
    if (link_ == ports::Link::consume) {
        opened.read_larger_frames();
        live_->session = std::make_unique<ConsumeSession>(opened, events_, names_given_);
    } else {
        live_->session = std::make_unique<PublishSession>(opened, events_);
    }
    events_.push_back(ports::LinkUp{link_, opened.broker_version(), opened.frame_max()});
    live_->session->start();
    wait_tick();
    end_turn();
}

void Pump::perform(Commands& commands, std::uint32_t closes_seen) {
    if (!live_) return;
    if (reading()) drain(most_bytes);  // before a send, or a silent peer makes it wait for ever
    live_->session->perform(commands, closes_seen);
    end_turn();
}

void Pump::close() {
    if (!live_) return;
    while (live_->session->advance()) {
    }
    live_->session->flush();
    close_connection(*live_->connection);
    live_->closing = true;
    live_->bound.expires_after(close_bound);
    live_->bound.async_wait([this, life = life_](error_code error) {
        if (!error && life == life_) go_down(false, "closed; the broker did not answer in time");
    });
    end_turn();
}

void Pump::disconnect() {
    if (live_) go_down(false, "disconnected");
}

void Pump::taken(std::size_t bytes) {
    untaken_ -= bytes;
    if (live_) wait();
}

bool Pump::reading() const {
    return live_->closing || (live_->session->reading() && untaken_ < most_untaken);
}

void Pump::read_turn() {
    if (reading()) drain(most_bytes);
    end_turn();
}

void Pump::drain(std::size_t bytes) {
    amqp_frame_t frame;
    live_->unread = true;
    std::size_t seen = 0;
    for (std::size_t frames = 0; frames < most_frames && seen < bytes; ++frames) {
        // The socket is asked once: what comes later makes it readable, and that is another turn. A sip has no other turn.
        const bool asked = frames > 0 && reading() && !live_->connection->has_unread();
        if (asked || !live_->connection->read(frame)) {
            live_->unread = false;
            break;
        }
        seen += size_of(frame);
        take(decode(frame, live_->assembler));
        // The library frees nothing while a frame is half-way, which in a busy stream is always. Of a header it keeps every
        // value decoded, up to thirty times its bytes.
        if (size_of(frame) > 0) live_->connection->release(frame.channel);
    }
    live_->connection->release_all();
}

void Pump::take(Incoming&& incoming) {
    if (const auto* malformed = std::get_if<Malformed>(&incoming)) {
        live_->connection->fail(malformed->what);
    } else if (const auto* close = std::get_if<ConnectionClose>(&incoming)) {
        accept_connection_close(*live_->connection);
        live_->connection->fail(std::to_string(close->code) + " " + close->text);
    } else if (std::holds_alternative<ConnectionCloseOk>(incoming)) {
        live_->connection->fail("closed");
    } else {
        live_->session->take(std::move(incoming));
    }
}

void Pump::end_turn() {
    if (live_->session->advance()) live_->unread = true;
    if (live_->session->holds_back()) wait_flush();
    live_->connection->flush();
    if (live_->connection->failed()) return go_down(false, std::string{live_->connection->trouble()});
    const auto now = std::chrono::time_point_cast<model::Microseconds>(std::chrono::steady_clock::now());
    live_->pace.looked(events_.size(), live_->session->arrived(), model::SteadyTime{now.time_since_epoch()});
    report();
    wait();
}

void Pump::report() {
    if (events_.empty()) return;
    untaken_ += bytes_in(events_);
    report_(events_);
}

// The socket says nothing about frames that the library has buffered: what is unread is read in a turn of its own.
void Pump::wait() {
    if (!reading()) return;
    if (!live_->unread) return live_->pace.rests() ? wait_rested() : wait_readable();
    if (std::exchange(live_->posted, true)) return;
    asio::post(context_, [this, life = life_] {
        if (life != life_) return;
        live_->posted = false;
        read_turn();
    });
}

void Pump::wait_rested() {
    if (live_->watched || std::exchange(live_->resting, true)) return;
    live_->rest.expires_after(ReadPace::rest);
    live_->rest.async_wait([this, life = life_](error_code) {
        if (life != life_) return;
        live_->resting = false;
        read_turn();
    });
}

void Pump::wait_readable() {
    if (live_->resting || std::exchange(live_->watched, true)) return;
    live_->socket.async_wait(asio::posix::descriptor_base::wait_read, [this, life = life_](error_code) {
        if (life != life_) return;
        live_->watched = false;
        read_turn();
    });
}

void Pump::wait_tick() {
    live_->tick.expires_after(std::min(std::chrono::milliseconds{live_->connection->heartbeat()} / 4, between_sips));
    live_->tick.async_wait([this, life = life_](error_code) {
        if (life != life_) return;
        wait_tick();
        if (reading()) {
            drain(most_bytes);
        } else {
            take_a_sip();
        }
        end_turn();
    });
}

void Pump::take_a_sip() {
    const auto now = std::chrono::steady_clock::now();
    if (now < live_->next_sip) return;
    live_->next_sip = now + std::min(std::chrono::milliseconds{live_->connection->heartbeat()} / 2, between_sips);
    drain(sip);
}

void Pump::wait_flush() {
    if (std::exchange(live_->flush_pending, true)) return;
    live_->flush.expires_after(flush_after);
    live_->flush.async_wait([this, life = life_](error_code) {
        if (life != life_) return;
        live_->flush_pending = false;
        live_->session->flush();
        end_turn();
    });
}

void Pump::go_down(bool refused, const std::string& why) {
    ++life_;
    live_.reset();
    exit_.take_back();
    events_.push_back(ports::LinkDown{link_, refused, why});
    report();
}

}  // namespace retryd::amqp
