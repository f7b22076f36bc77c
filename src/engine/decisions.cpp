#include "engine/decisions.hpp"

#include "model/ledger.hpp"

#include <algorithm>
#include <utility>

namespace retryd::engine {

void Decisions::add(Decision&& decision) {
    decision.id.resize(std::min(decision.id.size(), longest_id));
    decision.error = model::cut_text(decision.error, longest_error);
    if (ring_.size() < kept_) {
        ring_.push_back(std::move(decision));
        return;
    }
    ring_[next_] = std::move(decision);
    next_ = (next_ + 1) % kept_;
}

std::vector<const Decision*> Decisions::about(std::string_view id) const {
    std::vector<const Decision*> found;
    for (std::size_t back = 1; back <= ring_.size(); ++back) {
        const auto& one = ring_[(next_ + ring_.size() - back) % ring_.size()];
        if (one.id == id.substr(0, longest_id)) found.push_back(&one);
    }
    return found;
}

std::optional<model::WallTime> Decisions::oldest() const {
    if (ring_.empty()) return std::nullopt;
    return ring_[next_ % ring_.size()].at;
}

}  // namespace retryd::engine
