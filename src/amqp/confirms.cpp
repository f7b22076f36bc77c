#include "amqp/confirms.hpp"

#include <algorithm>
#include <utility>

namespace retryd::amqp {

void ConfirmWindow::sent(ports::PublishKey key, std::string queue, std::string id) {
    copies_.push_back({key, std::move(queue), std::move(id)});
    ++open_;
}

std::optional<ports::PublishKey> ConfirmWindow::returned(std::string_view id, std::string_view routing_key) {
    const auto is_it = [&](const Copy& copy) {
        return copy.state == State::waiting && copy.id == id && copy.queue == routing_key;
    };
    const auto at = std::find_if(copies_.begin(), copies_.end(), is_it);
    if (at == copies_.end()) return std::nullopt;
    at->state = State::returned;
    return at->key;
}

void ConfirmWindow::decide(Copy& copy, std::vector<ports::PublishKey>& keys) {
    if (copy.state == State::done) return;
    if (copy.state == State::waiting) keys.push_back(copy.key);
    copy.state = State::done;
    --open_;
}

std::vector<ports::PublishKey> ConfirmWindow::confirmed(std::uint64_t tag, bool multiple) {
    std::vector<ports::PublishKey> keys;
    if (tag < first_ || tag - first_ >= copies_.size()) return keys;
    const auto last = static_cast<std::size_t>(tag - first_);
    for (std::size_t i = multiple ? 0 : last; i <= last; ++i) decide(copies_[i], keys);
    for (; !copies_.empty() && copies_.front().state == State::done; ++first_) copies_.pop_front();
    return keys;
}

}  // namespace retryd::amqp
