#pragma once
// Whether a subscription is what we believe it to be: fed with what a passive declaration says of its queue now and then.
//
// The broker may have forgotten the consumer (it counts none at all), or deliver nothing to it although messages wait and
// it may have more. Each is named when it is seen and acted upon when the next look says the same: counts may be old.

#include "model/time.hpp"

#include <cstdint>
#include <optional>

namespace retryd::core {

class SubscriptionWatch {
public:
    struct Look {
        std::uint64_t ready = 0;      // messages that wait in the queue
        std::uint32_t consumers = 0;  // ours is one of them
        std::uint64_t arrivals = 0;   // messages that have come from the queue, ever
        bool room = true;             // the subscription may have more in hand
    };
    // A look at a subscription that had been confirmed some time before. True: renew it.
    [[nodiscard]] bool looked(const Look& look, model::SteadyTime now);
    void renewed();  // the broker has confirmed a subscription
    void arrived();  // a message has come
    void ended();    // there is no subscription any more

    enum class Doubt : std::uint8_t { none, unknown, starved };
    [[nodiscard]] Doubt doubt() const { return doubt_; }
    [[nodiscard]] model::SteadyTime since() const { return since_; }  // of the doubt

private:
    [[nodiscard]] bool forgotten(model::SteadyTime now);
    [[nodiscard]] bool starved(const Look& look, model::SteadyTime now);
    void settle(Doubt doubt, model::SteadyTime now);

    Doubt doubt_ = Doubt::none;
    model::SteadyTime since_{};
    std::optional<std::uint64_t> waiting_since_;  // arrivals at the first look at messages that wait
    std::uint32_t looks_ = 0;                     // in a row that found the same since the last renewal
    bool renewed_in_vain_ = false;
};

}  // namespace retryd::core
