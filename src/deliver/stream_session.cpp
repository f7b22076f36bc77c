#include "deliver/stream_session.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace retryd::deliver {
namespace {

Breach unknown_id(std::string_view op, std::uint64_t id) {
    return {"unknown_id", std::string(op) + ": no message of this session had the id " + std::to_string(id)};
}

}  // namespace

Heard StreamSession::hear(std::string_view header, model::SteadyTime now) {
    quiet_since_ = now;
    auto op = read_op(header);
    const bool may_come_first = std::holds_alternative<HelloOp>(op) || std::holds_alternative<Breach>(op);
    if (state_ == State::greeting && !may_come_first) return Breach{"no_hello", "hello comes first"};
    return std::visit([this](auto& it) { return take(it); }, op);
}

Heard StreamSession::take(const HelloOp& op) {
    if (state_ != State::greeting) return Breach{"second_hello", "hello was said already"};
    state_ = State::present;
    add_credit(op.credit);
    return Welcomed{};
}

Heard StreamSession::take(ReplyOp& op) {
    if (!was_given(op.id)) return unknown_id("reply", op.id);
    add_credit(op.credit);
    const auto answered = unanswered_.extract(op.id);
    if (answered.empty()) {
        if (overdue_ > 0) --overdue_;
        return AnsweredLate{};
    }
    return Answered{answered.mapped(), std::move(op.reply)};
}

Heard StreamSession::take(const CreditOp& op) {
    add_credit(op.credit);
    return CreditGiven{};
}

Heard StreamSession::take(const ExtendOp& op) {
    if (!was_given(op.id)) return unknown_id("extend", op.id);
    const auto found = unanswered_.find(op.id);
    if (found == unanswered_.end()) return NothingNew{};
    return Extended{found->second, op.more};
}

Heard StreamSession::take(const PongOp&) {
    awaits_pong_ = false;
    return NothingNew{};
}

Heard StreamSession::take(const LeaveOp&) {
    if (std::exchange(state_, State::leaving) == State::leaving) return NothingNew{};
    return HasLeft{};
}

void StreamSession::add_credit(std::uint32_t credit) {
    credit_ = std::min(credit_ + credit, most_credit);
}

SessionDue StreamSession::timer_due(model::SteadyTime now) {
    if (now < next()) return NothingNew{};
    if (state_ == State::greeting) return Breach{"no_hello", "no hello came within 5 s"};
    if (awaits_pong_) return Breach{"no_pong", "no pong came within 10 s"};
    quiet_since_ = now;
    if (!unanswered_.empty()) return NothingNew{};
    awaits_pong_ = true;
    pinged_ = now;
    return PingDue{};
}

model::SteadyTime StreamSession::next() const {
    if (state_ == State::greeting) return quiet_since_ + hello_within;
    return awaits_pong_ ? pinged_ + pong_within : quiet_since_ + ping_after;
}

std::uint64_t StreamSession::give(model::DeliveryKey key, model::SteadyTime now) {
    --credit_;
    quiet_since_ = now;
    unanswered_.emplace(++last_id_, key);
    return last_id_;
}

void StreamSession::abandon(std::uint64_t id) {
    overdue_ += unanswered_.erase(id);
}

void StreamSession::take_back(std::uint64_t id) {
    unanswered_.erase(id);
    add_credit(1);
}

std::vector<model::DeliveryKey> StreamSession::unanswered() const {
    std::vector<model::DeliveryKey> keys;
    keys.reserve(unanswered_.size());
    for (const auto& [id, key] : unanswered_) keys.push_back(key);
    return keys;
}

}  // namespace retryd::deliver
