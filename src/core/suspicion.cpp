#include "core/suspicion.hpp"

#include <algorithm>

namespace retryd::core {

Standing standing_of(const model::QueuePolicy& policy, const model::Ledger& ledger, model::Side side, std::uint32_t returns) {
    if (ledger.suspect) {
        // What comes from a delay queue was stamped for the trial that sent it there.
        const bool fresh = side == model::Side::lane && !ledger.not_before && returns == 0;
        if (*ledger.suspect > 0 && fresh) return Standing::on_trial;
        return *ledger.suspect >= policy.solo_tries ? Standing::poison : Standing::accused;
    }
    if (ledger.lost + returns < policy.suspect_after) return Standing::trusted;
    return ledger.lost == 0 && returns == policy.suspect_after ? Standing::suspect : Standing::accused;
}

std::uint32_t suspects_at_once(std::uint32_t concurrency) {
    return std::max(concurrency / 4, 1U);
}

}  // namespace retryd::core
