#include "amqp/confirms.hpp"

#include <algorithm>
#include <utility>

namespace retryd::amqp {

void ConfirmWindow::sent(ports::PublishKey key, std::string queue, std::string id) {
    copies_.emplace_hint(copies_.end(), ++last_, Copy{key, std::move(queue), std::move(id)});
}

std::optional<ports::PublishKey> ConfirmWindow::returned(std::string_view id, std::string_view routing_key) {
    const auto is_it = [&](const auto& entry) {
        const Copy& copy = entry.second;
        return !copy.returned && copy.id == id && copy.queue == routing_key;
    };
    const auto at = std::find_if(copies_.begin(), copies_.end(), is_it);
    if (at == copies_.end()) return std::nullopt;
    at->second.returned = true;
    return at->second.key;
}

std::vector<ports::PublishKey> ConfirmWindow::confirmed(std::uint64_t tag, bool multiple) {
    std::vector<ports::PublishKey> keys;
    if (tag > last_) return keys;
    const auto first = multiple ? copies_.begin() : copies_.lower_bound(tag);
    const auto end = copies_.upper_bound(tag);
    for (auto at = first; at != end; ++at) {
        if (!at->second.returned) keys.push_back(at->second.key);
    }
    copies_.erase(first, end);
    return keys;
}

}  // namespace retryd::amqp
