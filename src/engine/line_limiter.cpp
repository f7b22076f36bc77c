#include "engine/line_limiter.hpp"

#include <algorithm>

namespace retryd::engine {

void LineLimiter::count(std::uint64_t& counter, model::SteadyTime now) {
    ++counter;
    if (sum_due_ == model::SteadyTime::max()) sum_due_ = now + interval;
}

bool LineLimiter::admit(const std::string& kind, const std::string& detail, model::SteadyTime now, std::uint32_t most) {
    if (now >= details_until_) {
        details_.clear();
        details_until_ = now + interval;
    }
    auto& details = details_[kind];
    const bool told_apart = details.contains(detail) || details.size() < most_details;
    if (!told_apart) return admit_key(kind + " (others)", now, most);
    details.insert(detail);
    return admit_key(detail.empty() ? kind : kind + " " + detail, now, most);
}

bool LineLimiter::admit_key(const std::string& key, model::SteadyTime now, std::uint32_t most) {
    const auto known = seen_.find(key);
    if (known != seen_.end()) {
        if (now - known->second.written >= interval) {
            known->second.written = now;
            known->second.lines = 1;
            return true;
        }
        if (known->second.lines < most) {
            ++known->second.lines;
            return true;
        }
        count(known->second.counted, now);
        return false;
    }
    if (seen_.size() == most_keys)
        std::erase_if(seen_, [&](const auto& one) { return one.second.counted == 0 && now - one.second.written >= interval; });
    if (seen_.size() == most_keys) {
        count(beyond_, now);
        return false;
    }
    seen_.emplace(key, Seen{now});
    return true;
}

std::optional<LineLimiter::Sum> LineLimiter::take_sum(model::SteadyTime now) {
    return now < sum_due_ ? std::nullopt : take_rest();
}

std::optional<LineLimiter::Sum> LineLimiter::take_rest() {
    if (sum_due_ == model::SteadyTime::max()) return std::nullopt;
    sum_due_ = model::SteadyTime::max();
    Sum sum;
    sum.lines = std::exchange(beyond_, 0);
    for (auto& [key, seen] : seen_) {
        if (seen.counted == 0) continue;
        sum.lines += seen.counted;
        ++sum.keys;
        sum.most.emplace_back(key, std::exchange(seen.counted, 0));
    }
    std::sort(sum.most.begin(), sum.most.end(),
              [](const auto& a, const auto& b) { return std::pair(b.second, a.first) < std::pair(a.second, b.first); });
    sum.most.resize(std::min(sum.most.size(), most_named));
    return sum;
}

}  // namespace retryd::engine
