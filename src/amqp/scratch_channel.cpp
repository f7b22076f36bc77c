#include "amqp/scratch_channel.hpp"

#include "amqp/methods.hpp"

#include <utility>

namespace retryd::amqp {

namespace {

const model::QueueName& name_of(const ports::LookUp& question) {
    return question.queue;
}
const model::QueueName& name_of(const ports::Declare& question) {
    return question.spec.name;
}

void send(Connection& connection, ChannelNumber channel, const ports::LookUp& question) {
    declare_passively(connection, channel, question.queue.value);
}
void send(Connection& connection, ChannelNumber channel, const ports::Declare& question) {
    declare(connection, channel, question.spec);
}

ports::BrokerEvent yes(const ports::LookUp& question, const DeclareOk& answer, ports::Link link) {
    return ports::LookedUp{question.queue, true, answer.messages, answer.consumers, 0, {}, link};
}
ports::BrokerEvent yes(const ports::Declare& question, const DeclareOk&, ports::Link link) {
    return ports::Declared{question.spec.name, true, 0, {}, link};
}

ports::BrokerEvent no(const ports::LookUp& question, std::uint16_t code, const std::string& why, ports::Link link) {
    return ports::LookedUp{question.queue, false, 0, 0, code, why, link};
}
ports::BrokerEvent no(const ports::Declare& question, std::uint16_t code, const std::string& why, ports::Link link) {
    return ports::Declared{question.spec.name, false, code, why, link};
}

}  // namespace

void ScratchChannel::enqueue(Question&& question) {
    questions_.push_back(std::move(question));
    if (questions_.size() == 1) send_first();
}

void ScratchChannel::send_first() {
    const auto fits = [](const auto& question) { return is_short_string(name_of(question).value); };
    if (!std::visit(fits, questions_.front())) {
        return refuse_first(AMQP_SYNTAX_ERROR, "a queue's name has at most 255 bytes");
    }
    if (!std::exchange(open_, true)) open_channel(connection_, number_);
    std::visit([this](const auto& question) { send(connection_, number_, question); }, questions_.front());
}

void ScratchChannel::next() {
    questions_.pop_front();
    if (!questions_.empty()) send_first();
}

void ScratchChannel::refuse_first(std::uint16_t code, const std::string& why) {
    events_.push_back(std::visit([&](const auto& question) { return no(question, code, why, link_); }, questions_.front()));
    next();
}

void ScratchChannel::take(const DeclareOk& answer) {
    if (questions_.empty()) return;
    events_.push_back(std::visit([&](const auto& question) { return yes(question, answer, link_); }, questions_.front()));
    next();
}

void ScratchChannel::take(const ChannelClose& refusal) {
    accept_channel_close(connection_, number_);
    open_ = false;
    if (!questions_.empty()) refuse_first(refusal.code, refusal.text);
}

}  // namespace retryd::amqp
