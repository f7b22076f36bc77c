#pragma once
// The consume link: a channel for each source, opened when it is first subscribed, and one for questions.
//
// What belongs together is sent at once (channel.open, basic.qos, basic.consume): the broker answers in order, and a
// refusal closes the channel. Deliveries, acks and nacks of a source go over its own channel, so a refusal on one queue
// costs the others nothing.

#include "amqp/connection.hpp"
#include "amqp/scratch_channel.hpp"
#include "amqp/session.hpp"
#include "amqp/settle.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <utility>

namespace retryd::amqp {

class ConsumeSession : public Session {
public:
    // `names_given` counts channel generations and consumer tags; it outlives the session and never repeats.
    ConsumeSession(Connection& connection, Events& events, std::uint32_t& names_given);

    void start() override {}
    void perform(Commands& commands, std::uint32_t closes_seen) override;
    void take(Incoming&& incoming) override;
    [[nodiscard]] bool holds_back() const override;
    void flush() override;
    [[nodiscard]] double arrived() override { return std::exchange(arrived_, 0.0); }
    [[nodiscard]] bool reading() const override { return reading_; }

private:
    struct SourceChannel {
        model::Source source;
        std::uint32_t generation = 0;
        std::uint16_t prefetch = 1;
        std::string consumer_tag;  // empty: no subscription
        AckCoalescer acks;
    };

    void perform(ports::Subscribe& command);
    void perform(ports::Unsubscribe& command);
    void perform(ports::Settle& command);
    void perform(ports::LookUp& command) { scratch_.ask(std::move(command)); }
    void perform(ports::Declare& command) { scratch_.ask(std::move(command)); }
    void perform(ports::SetReading& command) { reading_ = command.reading; }
    void perform(ports::PublishCopy&) {}  // the other link's

    void take(Deliver& deliver, SourceChannel& at);
    void take(ConsumeOk& answer, SourceChannel& at);
    void take(CancelOk& answer, SourceChannel& at);
    void take(Cancel& cancel, SourceChannel& at);
    void take(ChannelClose& close, SourceChannel& at);
    template <class Other>
    void take(Other&, SourceChannel&) {}

    [[nodiscard]] ChannelNumber channel_for(const model::Source& source);  // opens it; 0: the broker allows no more
    void send_acks(ChannelNumber number, SourceChannel& at);
    void flush(ChannelNumber number, SourceChannel& at);

    Connection& connection_;
    Events& events_;
    std::uint32_t& names_given_;
    std::map<ChannelNumber, SourceChannel> channels_;
    std::map<model::Source, ChannelNumber> numbers_;
    ScratchChannel scratch_;
    bool reading_ = true;
    double arrived_ = 0;  // in prefetches
};

}  // namespace retryd::amqp
