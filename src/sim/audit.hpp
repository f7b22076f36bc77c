#pragma once
// The outside ledger: numbers every message, follows it through broker and consumer, and proves at the end that each is
// in exactly one place, for a reason.
//
// A message is known by the number that its body begins with. Every ack must be paid for, by a success that the engine
// was told of or by a confirm that had reached it. A duplicate must be explained by a fault, an attempt by a failure.
// What has no number is not followed; it succeeds.

#include "model/ledger.hpp"
#include "sim/fates.hpp"
#include "sim/model_broker.hpp"
#include "sim/watch.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace retryd::sim {

class Audit final : public Watch {
public:
    explicit Audit(const model::Policy& policy);

    // A new number for a message with this fate.
    std::uint64_t enlist(Fate fate);
    [[nodiscard]] static std::string body(std::uint64_t number, std::size_t size);
    [[nodiscard]] Answer judge(const ports::Delivery& delivery);
    // At most this many attempts may be told to the consumer.
    void expect_max_attempts(std::uint32_t most) { max_attempts_ = most; }

    // Not every failure is charged to its message: a breaker's probe is not, nor what no budget lets park.
    void expect_uncharged_failures() { all_are_charged_ = false; }

    // What does not add up; empty: all is proven. Ask when everything has come to rest.
    [[nodiscard]] std::vector<std::string> complaints(const ModelBroker& broker) const;

    // What is wrong already, however it goes on: a protocol broken, an early ack, a message that is nowhere.
    [[nodiscard]] std::vector<std::string> broken(const ModelBroker& broker) const;

    [[nodiscard]] std::size_t enlisted() const { return lives_.size(); }
    [[nodiscard]] std::size_t succeeded() const;  // messages, not calls
    [[nodiscard]] std::size_t calls() const;      // of the consumer, in all
    [[nodiscard]] std::uint32_t calls(std::uint64_t number) const;
    [[nodiscard]] std::uint32_t copies(std::uint64_t number) const;  // that were ever stored
    [[nodiscard]] std::size_t duplicates() const;                    // successes beyond the first of a message
    [[nodiscard]] const std::set<model::QueueName>& lots() const { return lots_; }

    void settling(const model::Message& message, bool ack) override;
    void acked(const model::Message& message) override;
    void stored_copy(const model::Message& message) override;
    void confirmed(const model::Message& message) override;
    void may_repeat(const model::Message& message) override;
    void gone(const model::Message& message, std::string_view why) override;
    void handed(const ports::Delivery& delivery) override;
    void processed(const model::Message& message, const model::Reply& reply) override;
    void replied(const model::Message& message, const model::Reply& reply) override;
    void wrong(std::string_view what) override;

private:
    friend struct Portrait;  // tests/sim/portrait
    struct Life {
        Fate fate;
        std::uint32_t calls = 0;
        std::uint32_t copies = 0;
        std::uint32_t successes = 0;                    // as the consumer knows
        std::uint32_t paid = 0;                         // successes told to the engine, confirms that reached it
        std::uint32_t acks = 0;                         // that took effect
        std::uint32_t spent_least = 0, spent_most = 0;  // attempts, where no duplicate is explained
        bool may_repeat = false;
        std::optional<std::string> gone;
    };
    Life& life_of(const model::Message& message);
    void complain(std::uint64_t number, const std::string& what);
    [[nodiscard]] std::vector<std::size_t> count_places(const ModelBroker& broker) const;
    void check_life(std::uint64_t number, const Life& life, std::size_t places, std::vector<std::string>& out) const;
    void check_copy(const model::QueueName& queue, const Stored& stored, std::vector<std::string>& out) const;

    std::vector<Life> lives_;        // the number is the position + 1
    Life stranger_;                  // stands for all that have no number
    std::vector<std::string> seen_;  // complaints on the way
    std::set<model::QueueName> lots_, work_queues_;
    std::optional<std::uint32_t> max_attempts_;
    bool all_are_charged_ = true;
};

// The number that a body begins with; 0 where there is none.
[[nodiscard]] std::uint64_t number_of(const model::Message& message);
// Whether this reply spends an attempt by the default map, of a consumer that has answered 2xx before.
[[nodiscard]] bool spends_attempt(const model::Reply& reply);

}  // namespace retryd::sim
