// A link to a broker that says anything at all: both kinds of link, whole, over a socket. Each goes down in the end and says
// so last; no copy is decided twice, and nothing is delivered that was not sent.

#include "amqp/pump.hpp"
#include "fuzz/false_broker.hpp"
#include "fuzz/input.hpp"

#include <chrono>
#include <memory>
#include <set>

using namespace retryd;
using fuzz::require;

namespace {

constexpr std::uint64_t copies = 4;

fuzz::FalseBroker& broker() {
    static fuzz::FalseBroker one;
    return one;
}

amqp::Commands commands(ports::Link link) {
    if (link == ports::Link::consume) {
        return {ports::Subscribe{{{0}, model::Side::work}, {"orders"}, 16},
                ports::Subscribe{{{0}, model::Side::lane}, {"retryd.orders.lane"}, 16}, ports::LookUp{{"orders"}},
                ports::Declare{model::plain_queue({"retryd.orders.lane"}, model::QueueType::quorum)}};
    }
    amqp::Commands made;
    const auto message = std::make_shared<const model::Message>(model::Message{{"\0\0", 2}, "body"});
    for (std::uint64_t key = 1; key <= copies; ++key)
        made.push_back(ports::PublishCopy{{key}, {"lot"}, "id-" + std::to_string(key % 2), message->properties, message});
    return made;
}

class Witness {
public:
    explicit Witness(std::size_t words) : words_(words) {}

    void see(amqp::Events& events) {
        for (auto& event : events) {
            require(!down_, "nothing comes after the end");
            std::visit([this](auto& one) { see(one); }, event);
        }
        events.clear();
    }
    [[nodiscard]] bool down() const { return down_; }

    // Settles what came, some of it twice.
    amqp::Commands answers() {
        amqp::Commands made;
        for (const auto& tag : tags_) made.push_back(ports::Settle{tag, tag.tag % 3 != 0});
        if (tags_.size() > 64) tags_.clear();
        return made;
    }

private:
    template <class Event>
    void see(Event&) {}
    void see(ports::LinkDown& one) {
        down_ = true;
        require(!one.why.empty(), "a link says why it is down");
    }
    void see(ports::Delivered& one) {
        require(one.message != nullptr && one.message->body.size() <= words_, "a body is made of what came");
        tags_.push_back(one.tag);
    }
    void see(ports::Confirmed& one) { decide(one.key); }
    void see(ports::Nacked& one) { decide(one.key); }
    void see(ports::Returned& one) { decide(one.key); }
    void decide(ports::PublishKey key) {
        require(key.value >= 1 && key.value <= copies && decided_.insert(key.value).second, "a copy is decided once");
    }

    std::size_t words_;
    bool down_ = false;
    std::vector<model::DeliveryTag> tags_;
    std::set<std::uint64_t> decided_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::Input in(data, size);
    const auto link = in.flag() ? ports::Link::publish : ports::Link::consume;
    const auto words = in.rest();
    broker().will_say(words);
    model::BrokerPolicy policy;
    policy.addresses.resize(1);
    policy.addresses[0].host = "127.0.0.1";
    policy.addresses[0].port = broker().port();

    Witness witness(words.size());
    amqp::Exit exit;
    amqp::Pump pump(link, policy, {"fuzz", "0"}, exit, [&](amqp::Events& events) { witness.see(events); });
    pump.connect(0);
    auto asked = commands(link);
    pump.perform(asked, 0);
    while (!witness.down()) {
        require(pump.context().run_one_for(std::chrono::seconds{30}) > 0, "a link whose peer is gone goes down");
        auto settled = witness.answers();
        if (!settled.empty()) pump.perform(settled, 0);
    }
    return 0;
}
