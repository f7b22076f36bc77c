#include "core/orphans.hpp"

namespace retryd::core {

using model::DeliveryKey;
using model::SteadyTime;

void Orphans::orphaned(DeliveryKey orphan, const model::ContentHash& content) {
    under_way_.emplace(orphan, by_content_.emplace(content, orphan));
}

void Orphans::ended(DeliveryKey orphan, bool done, SteadyTime now) {
    auto entry = under_way_.extract(orphan);
    if (entry.empty()) return;
    if (!done) {
        by_content_.erase(entry.mapped());
        return;
    }
    done_.insert(std::move(entry));
    fading_.emplace_back(now + remembered_for, orphan);
    fade(now);
}

bool Orphans::is_idle(SteadyTime now) {
    fade(now);
    return by_content_.empty();
}

Orphans::Found Orphans::came_again(const model::ContentHash& content, SteadyTime now) {
    fade(now);
    const auto [first, last] = by_content_.equal_range(content);
    if (first == last) return {};
    auto chosen = first;
    for (auto it = first; it != last; ++it) {
        if (!done_.contains(it->second)) continue;
        chosen = it;  // what is done goes before what may be
        break;
    }
    const auto orphan = chosen->second;
    const auto kin = done_.erase(orphan) > 0 ? Kin::done : Kin::under_way;
    under_way_.erase(orphan);
    by_content_.erase(chosen);
    return {kin, orphan};
}

void Orphans::fade(SteadyTime now) {
    while (!fading_.empty() && (fading_.front().first <= now || fading_.size() > most_remembered)) {
        const auto entry = done_.extract(fading_.front().second);
        fading_.pop_front();
        if (!entry.empty()) by_content_.erase(entry.mapped());
    }
}

}  // namespace retryd::core
