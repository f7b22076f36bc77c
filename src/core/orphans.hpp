#pragma once
// What becomes of a message whose channel died while the consumer had it: the broker delivers it again, and this finds the two
// together, so that the consumer is not called twice where once was enough.
//
//   orphaned ─came again─▶ the copy under way takes over the new tag; the message is settled by it when its outcome comes
//        └─ended, done─▶ remembered, for five minutes ─came again─▶ acked, without being delivered
//
// Done is: success, drop, or a confirmed copy. They are matched by content alone, for a message may have no id, and ids may
// repeat. Among messages of equal content it may be a twin that is acked. Nothing is lost by that: each one that is done pays
// for one ack, so of n equal messages no more are acked than were done, whoever holds the rest; and only for one that was
// delivered before, so what is fresh is always delivered.
//
// At most 10,000 are remembered, the oldest is forgotten first; with its upkeep that is under 4 MiB. Who is forgotten is
// delivered once more.

#include "model/content_hash.hpp"
#include "model/names.hpp"
#include "model/time.hpp"

#include <cstddef>
#include <deque>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

namespace retryd::core {

class Orphans {
public:
    static constexpr std::size_t most_remembered = 10'000;
    static constexpr model::Milliseconds remembered_for{5 * 60 * 1000};

    // Facts. The consumer or the publish link has it, and its tag is dead.
    void orphaned(model::DeliveryKey orphan, const model::ContentHash& content);
    // One that is not known is ignored: it was no orphan, or has taken over another tag.
    void ended(model::DeliveryKey orphan, bool done, model::SteadyTime now);

    // Nothing can be found: no need to hash what comes.
    [[nodiscard]] bool is_idle(model::SteadyTime now);
    enum class Kin : std::uint8_t { none, done, under_way };
    struct Found {
        Kin kin = Kin::none;
        model::DeliveryKey orphan;  // under_way: takes over the new tag, and is no orphan any more; done: was the first
    };
    // A message that the broker has delivered again. Whatever is found is found once.
    [[nodiscard]] Found came_again(const model::ContentHash& content, model::SteadyTime now);

private:
    friend struct Portrait;  // tests/sim/portrait
    using ByContent = std::multimap<model::ContentHash, model::DeliveryKey>;
    void fade(model::SteadyTime now);

    ByContent by_content_;  // under way and done
    std::unordered_map<model::DeliveryKey, ByContent::iterator> under_way_;
    std::unordered_map<model::DeliveryKey, ByContent::iterator> done_;
    std::deque<std::pair<model::SteadyTime, model::DeliveryKey>> fading_;  // of those done, until when; some are found already
};

}  // namespace retryd::core
