#pragma once
// One consumed queue, from not knowing whether it exists to being subscribed. Fed facts, it says what to do next.
//
//   unknown ─look up─▶ (missing ─declare or wait─▶ unknown) ─▶ found ─subscribe─▶ subscribed ─unsubscribe─▶ found
//
// A missing queue that we may not declare is looked up again from 500 ms growing to 5 s. Only the answer to the step that is
// under way counts: one may come late, when the broker has taken the subscription or closed the channel meanwhile. But a
// subscription that is confirmed exists, whenever it was asked for.

#include "model/time.hpp"

#include <cstdint>
#include <optional>

namespace retryd::core {

class Intake {
public:
    enum class Step : std::uint8_t { look_up, declare, subscribe, unsubscribe };

    explicit Intake(bool may_declare) : may_declare_(may_declare) {}

    // What to do now, given how many messages are wanted in hand (0: no subscription): at most one step, which is then
    // under way until its answer comes.
    [[nodiscard]] std::optional<Step> next_step(std::uint32_t wanted, model::SteadyTime now);
    // When next_step wants to be asked although nothing happened; SteadyTime::max() for never.
    [[nodiscard]] model::SteadyTime next() const;

    // Facts.
    void looked_up(bool found, model::SteadyTime now, std::uint64_t random);
    void declared(bool ok, model::SteadyTime now, std::uint64_t random);
    void subscribed(model::SteadyTime now);
    void unsubscribed();
    void cancelled(model::SteadyTime now);                     // by the broker
    void closed(model::SteadyTime now, std::uint64_t random);  // the channel, by the broker
    void doubted(model::SteadyTime now);                       // the subscription is not what it should be: take another
    void link_down();                                          // nothing survives

    [[nodiscard]] bool may_declare() const { return may_declare_; }
    [[nodiscard]] bool is_subscribed() const { return state_ == State::subscribed; }
    [[nodiscard]] bool is_missing() const { return missing_; }
    [[nodiscard]] bool is_there() const;                    // seen on this link, and nothing since says that it is gone
    [[nodiscard]] bool is_known() const { return known_; }  // looked up at least once on any link: found or missing
    [[nodiscard]] bool is_quiet() const { return state_ != State::subscribed && state_ != State::under_way; }
    [[nodiscard]] bool was_lost() const { return lost_; }               // the broker took the subscription, it is not back yet
    [[nodiscard]] model::SteadyTime since() const { return since_; }    // of being missing or lost
    [[nodiscard]] std::uint32_t prefetch() const { return prefetch_; }  // of the subscription
    [[nodiscard]] model::SteadyTime subscribed_since() const { return subscribed_since_; }
    // The broker owes an answer about the subscription itself.
    [[nodiscard]] bool awaits_broker() const { return is_awaiting(Step::subscribe) || is_awaiting(Step::unsubscribe); }

private:
    friend struct Portrait;  // tests/sim/portrait
    enum class State : std::uint8_t { unknown, absent, found, subscribed, under_way };
    void wait(model::SteadyTime now, std::uint64_t random);
    [[nodiscard]] std::optional<Step> begin(Step step);
    [[nodiscard]] bool is_awaiting(Step step) const { return state_ == State::under_way && step_ == step; }

    State state_ = State::unknown;
    Step step_ = Step::look_up;  // under way
    bool may_declare_;
    bool missing_ = false;
    bool known_ = false;
    bool lost_ = false;
    bool doubted_ = false;
    std::uint32_t prefetch_ = 0;  // of the subscription
    std::uint32_t failures_ = 0;
    model::SteadyTime since_{};
    model::SteadyTime subscribed_since_{};
    model::SteadyTime not_before_ = model::SteadyTime::min();
};

}  // namespace retryd::core
