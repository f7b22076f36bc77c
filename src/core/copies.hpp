#pragma once
// The copies that replace messages, from the decision to the broker's confirm. Knows keys, sizes and targets, no content.
//
//   declare (a tier is made when first needed) ─▶ publish ─▶ confirmed: done
//        ▲                                          ├─ returned: declare, publish again, once; then `unroutable`, slowly
//        └──────────────────────────────────────────┘
//   nacked: again after 1 s growing to 30 s; a queue that only nacks for 20 s growing to 5 min gets a new link, once nothing
//   is in flight: RabbitMQ lets a channel nack for ever when the limit that made it nack has been lifted
//   no confirm in time: the link is renewed and everything is published again; what then goes alone and has no confirm either
//   shows that its queue is silent (a quorum queue without a leader): all copies for it rest, the confirm timeout growing to
//   5 min, and the first to wake tries
//   channel or link closed: what was in flight is published again one at a time; the copy that alone closes the channel, or
//   three times the link, rests before it is tried again, 30 s growing to 5 min.
//
// Feed facts, then call advance() once and perform what it asks for. At most 256 copies or 16 MiB are unconfirmed; a
// larger copy goes alone. The numbers that name publishes rise and are never reused.

#include "model/names.hpp"
#include "model/tiers.hpp"
#include "model/time.hpp"

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace retryd::core {

struct CopyActions {
    struct Publish {
        model::DeliveryKey delivery;
        std::uint64_t number = 0;
    };
    std::vector<Publish> publish;
    std::vector<model::QueueSpec> declare;
    enum class Renewal : std::uint8_t { none, confirm_late, only_nacks };
    Renewal renew_link = Renewal::none;
    void clear();
};

class Copies {
public:
    explicit Copies(model::Milliseconds confirm_timeout) : confirm_timeout_(confirm_timeout) {}

    void add(model::DeliveryKey delivery, const model::QueueSpec& target, model::ByteCount size);
    // Its original will come again from the broker, so the copy need not be made. True: it is gone; false: it is on its way
    // and its confirm is still awaited.
    [[nodiscard]] bool forget(model::DeliveryKey delivery);
    // All originals go back to the broker: nothing is published any more, and what is still answered means nothing.
    void forget_all();

    // Facts of the publish link.
    void link_up();
    void link_down(model::SteadyTime now);
    void blocked(bool on, model::SteadyTime now);
    struct Done {
        model::DeliveryKey delivery;
        model::SteadyTime sent;
    };
    [[nodiscard]] std::optional<Done> confirmed(std::uint64_t number);
    // Both tell whose copy it was; nothing for a number that is not in flight.
    std::optional<model::DeliveryKey> nacked(std::uint64_t number, model::SteadyTime now, std::uint64_t random);
    std::optional<model::DeliveryKey> returned(std::uint64_t number, model::SteadyTime now);
    void channel_closed(const std::string& why, model::SteadyTime now);
    // Facts of the link that declares.
    void declared(const model::QueueName& queue, bool exists, model::SteadyTime now);
    void declaring_failed();  // the link is down: every declaration under way is void

    void advance(model::SteadyTime now, CopyActions& out);
    [[nodiscard]] model::SteadyTime next() const;  // when advance() wants to be called although nothing happened

    // The queue it goes to. The delivery must be known.
    [[nodiscard]] const model::QueueName& target(model::DeliveryKey delivery) const { return copies_.at(delivery).target; }
    [[nodiscard]] std::size_t size() const { return copies_.size(); }
    [[nodiscard]] std::size_t in_flight() const { return in_flight_.size(); }
    [[nodiscard]] bool is_blocked() const { return blocked_; }
    // Since when confirms are awaited in vain; nothing while they come in time. Named after a third of the confirm timeout.
    [[nodiscard]] std::optional<model::SteadyTime> late_since(model::SteadyTime now) const;
    // The copy can't be placed: its queue is not there and can't be made, the broker refuses it again and again, or it closes
    // the channel.
    [[nodiscard]] bool is_unroutable(model::DeliveryKey delivery) const;
    // … and rests for long before it is tried again.
    [[nodiscard]] bool is_resting(model::DeliveryKey delivery) const;
    // Why; empty for one that has not been tried yet, or whose queue can't be declared.
    [[nodiscard]] std::string trouble(model::DeliveryKey delivery) const;

private:
    friend struct Portrait;  // tests/sim/portrait
    enum class State : std::uint8_t { undeclared, ready, in_flight, pausing, resting };
    struct Copy {
        model::QueueName target;
        model::ByteCount size;
        State state = State::ready;
        std::uint32_t refusals = 0;    // nacks and returns
        bool unroutable = false;       // returned or nacked twice, not declarable, or resting
        bool suspect = false;          // in flight when the channel or the link was closed
        std::uint32_t links_lost = 0;  // while it was alone in flight
        std::uint32_t rests = 0;
        std::string trouble;
    };
    struct InFlight {
        model::DeliveryKey delivery;
        model::SteadyTime sent;
    };
    enum class Belief : std::uint8_t { unknown, declaring, there };
    struct Target {
        model::QueueSpec spec;
        Belief belief = Belief::unknown;
        std::vector<model::DeliveryKey> waiting;
        std::optional<model::SteadyTime> nacking_since;  // no confirm between, and no new link for it
        std::uint32_t links_for_it = 0;
        model::SteadyTime silent_until = model::SteadyTime::min();  // it left a copy that went alone without an answer
        std::uint32_t silences = 0;                                 // in a row
    };

    void enqueue(model::DeliveryKey delivery, Copy& copy);
    void pause(model::DeliveryKey delivery, Copy& copy, model::SteadyTime until);
    void wake(model::SteadyTime now);
    void ask_for_declarations(CopyActions& out);
    void void_flights();
    void mind_nacks(Target& target, model::SteadyTime now);
    void mind_silence(Target& target, model::SteadyTime now);
    void forgive(const model::QueueName& queue);
    void rest(model::DeliveryKey delivery, const std::string& why, model::SteadyTime until);
    void rest_longer_each_time(model::DeliveryKey delivery, const std::string& why, model::SteadyTime now);
    void fill_window(model::SteadyTime now, CopyActions& out);
    void settle_front(std::deque<model::DeliveryKey>& list, model::SteadyTime now);
    [[nodiscard]] std::deque<model::DeliveryKey>* sendable(model::SteadyTime now);
    Copy* take(std::uint64_t number, model::DeliveryKey& delivery);

    model::Milliseconds confirm_timeout_;
    bool up_ = false;
    bool blocked_ = false;
    bool renewing_ = false;
    bool wants_new_link_ = false;                        // as soon as nothing is in flight
    bool some_trouble_ = false;                          // a target has nacking_since or is silent
    std::optional<model::SteadyTime> unanswered_since_;  // the link was renewed, and no answer has come since
    std::uint64_t last_number_ = 0;
    std::uint64_t bytes_in_flight_ = 0;
    std::unordered_map<model::DeliveryKey, Copy> copies_;
    std::map<std::uint64_t, InFlight> in_flight_;  // by number: the first is the oldest
    std::deque<model::DeliveryKey> ready_;
    std::deque<model::DeliveryKey> suspects_;  // go one at a time, before all others
    std::multimap<model::SteadyTime, model::DeliveryKey> pausing_;
    std::map<model::QueueName, Target> targets_;
    std::vector<model::QueueName> to_declare_;
};

}  // namespace retryd::core
