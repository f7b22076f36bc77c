#pragma once
// After an outage the backlog would come all at once. So for a while after the breaker has closed no more goes than a little
// over the rate of before, until nobody waits any more.
//
// The rate of before is known only where calls have succeeded for a while before the opening: for a whole tenth of the time
// that it is measured over, and not only just begun to. Otherwise there is no limit.
//
// More may come than before the outage: where what waits grows all the same for a minute, the limit grows, too.

#include "core/tally.hpp"
#include "core/token_bucket.hpp"
#include "model/guards.hpp"
#include "model/time.hpp"

#include <cstdint>
#include <optional>

namespace retryd::core {

class Recovery {
public:
    Recovery(const model::RecoverPolicy& policy, model::SteadyTime now);

    // Facts.
    void succeeded(model::SteadyTime now);  // each success, at whatever time
    void opened(model::SteadyTime now);     // the breaker, which was closed: now is the rate of before taken
    void closed(model::SteadyTime now);     // … and now it begins to count
    void went(model::SteadyTime now);       // a call

    // Whether a call may go now. `waits`: somebody waits for it; the limit ends when nobody does and a second's worth is
    // unused.
    [[nodiscard]] bool may_go(model::SteadyTime now) const { return !limit_ || limit_->has(now); }
    void looked(bool waits, model::SteadyTime now);
    // How many messages wait in the broker's queues, as often as that is known.
    void waiting(std::uint64_t messages, model::SteadyTime now);
    void end() { limit_.reset(), before_.reset(); }

    [[nodiscard]] bool is_on() const { return limit_.has_value(); }
    [[nodiscard]] double per_second() const { return limit_ ? limit_->per_second() : 0; }
    // When may_go says yes although nothing happened; SteadyTime::max() where it does so already.
    [[nodiscard]] model::SteadyTime next(model::SteadyTime now) const;

private:
    const model::RecoverPolicy& policy_;
    Tally<1> successes_;
    std::optional<double> before_;  // a second
    std::optional<TokenBucket> limit_;
    std::uint64_t fewest_ = 0;          // that waited
    model::SteadyTime fewest_since_{};  // … since when it has not been fewer
};

}  // namespace retryd::core
