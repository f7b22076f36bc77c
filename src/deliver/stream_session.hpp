#pragma once
// One session of the stream, without its socket: what the consumer may say when, its credit, the messages it has not
// answered, and when it is looked after. Pure: time is an argument.
//
// Ids are given from 1 on and never again. What was given and is no longer unanswered was answered or has timed out: a reply
// to it comes too late and changes nothing but the credit that it brings.

#include "deliver/stream_frame.hpp"
#include "deliver/stream_ops.hpp"
#include "model/names.hpp"
#include "model/outcome.hpp"
#include "model/time.hpp"

#include <chrono>
#include <cstdint>
#include <map>
#include <string_view>
#include <variant>
#include <vector>

namespace retryd::deliver {

inline constexpr std::chrono::seconds hello_within{5};
inline constexpr std::chrono::seconds ping_after{5};  // without a word either way, nothing being unanswered
inline constexpr std::chrono::seconds pong_within{10};

// What a frame meant.
struct Welcomed {};  // hello: the consumer is there
struct Answered {
    model::DeliveryKey key;
    model::Reply reply;
};
struct AnsweredLate {};
struct CreditGiven {};
struct Extended {
    model::DeliveryKey key;
    model::Milliseconds more{0};
};
struct HasLeft {};  // it takes no more; what it has not answered it still may
struct NothingNew {};
using Heard = std::variant<NothingNew, Welcomed, Answered, AnsweredLate, CreditGiven, Extended, HasLeft, Breach>;

struct PingDue {};
using SessionDue = std::variant<NothingNew, PingDue, Breach>;

class StreamSession {
public:
    explicit StreamSession(model::SteadyTime now) : quiet_since_(now) {}

    [[nodiscard]] Heard hear(std::string_view header, model::SteadyTime now);
    // Asked when the time of next() has come.
    [[nodiscard]] SessionDue timer_due(model::SteadyTime now);
    [[nodiscard]] model::SteadyTime next() const;

    // Takes one credit; the id under which the message goes out. There must be credit().
    std::uint64_t give(model::DeliveryKey key, model::SteadyTime now);
    // Nobody waits for the answer any more.
    void abandon(std::uint64_t id);
    // It was not sent: the session has its credit again.
    void take_back(std::uint64_t id);

    [[nodiscard]] bool is_present() const { return state_ == State::present; }  // has said hello and has not left
    // It has left and owes no answer that anybody waits for: a message that crossed its `leave` was one.
    [[nodiscard]] bool is_over() const { return state_ == State::leaving && unanswered_.empty(); }
    [[nodiscard]] std::uint32_t credit() const { return is_present() ? credit_ : 0; }
    // The answers that it owes, those that have timed out among them: it may be at work on them still.
    [[nodiscard]] std::size_t busy() const { return unanswered_.size() + overdue_; }
    [[nodiscard]] bool is_late() const { return overdue_ > 0; }        // with at least one answer
    [[nodiscard]] std::vector<model::DeliveryKey> unanswered() const;  // in the order in which they were given

private:
    enum class State : std::uint8_t { greeting, present, leaving };

    Heard take(const HelloOp& op);
    Heard take(ReplyOp& op);
    Heard take(const CreditOp& op);
    Heard take(const ExtendOp& op);
    Heard take(const PongOp& op);
    Heard take(const LeaveOp& op);
    static Heard take(Breach& breach) { return std::move(breach); }
    void add_credit(std::uint32_t credit);
    [[nodiscard]] bool was_given(std::uint64_t id) const { return id >= 1 && id <= last_id_; }

    State state_ = State::greeting;
    std::uint32_t credit_ = 0;
    std::uint64_t last_id_ = 0;
    std::map<std::uint64_t, model::DeliveryKey> unanswered_;
    std::size_t overdue_ = 0;
    model::SteadyTime quiet_since_;
    bool awaits_pong_ = false;
    model::SteadyTime pinged_;
};

}  // namespace retryd::deliver
