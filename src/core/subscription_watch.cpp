#include "core/subscription_watch.hpp"

namespace retryd::core {

namespace {

constexpr std::uint32_t looks_before_renewal = 2;

}  // namespace

bool SubscriptionWatch::looked(const Look& look, model::SteadyTime now) {
    if (look.consumers == 0) return forgotten(now);
    if (doubt_ == Doubt::unknown) settle(Doubt::none, now);
    if (look.ready == 0 || !look.room) {
        arrived();
        return false;
    }
    return starved(look, now);
}

bool SubscriptionWatch::forgotten(model::SteadyTime now) {
    settle(Doubt::unknown, now);
    return ++looks_ == looks_before_renewal;
}

bool SubscriptionWatch::starved(const Look& look, model::SteadyTime now) {
    if (waiting_since_ != look.arrivals) {
        arrived();
        waiting_since_ = look.arrivals;
        return false;
    }
    // A new subscription has changed nothing, and others have one too: the broker serves those before us.
    const bool others_come_first = renewed_in_vain_ && look.consumers > 1;
    settle(others_come_first ? Doubt::none : Doubt::starved, now);
    if (others_come_first || ++looks_ < looks_before_renewal) return false;
    looks_ = 0;
    renewed_in_vain_ = true;
    return true;
}

void SubscriptionWatch::renewed() {
    looks_ = 0;
    if (doubt_ == Doubt::unknown) doubt_ = Doubt::none;
}

void SubscriptionWatch::arrived() {
    doubt_ = Doubt::none;
    waiting_since_.reset();
    looks_ = 0;
    renewed_in_vain_ = false;
}

void SubscriptionWatch::ended() {
    arrived();
}

void SubscriptionWatch::settle(Doubt doubt, model::SteadyTime now) {
    if (doubt == doubt_) return;
    doubt_ = doubt;
    since_ = now;
    looks_ = 0;
}

}  // namespace retryd::core
