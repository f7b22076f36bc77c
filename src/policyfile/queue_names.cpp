#include "policyfile/queue_names.hpp"

#include "policyfile/document.hpp"

#include <algorithm>

namespace retryd::policyfile {

using model::Problem;
using model::ProblemCode;

namespace {

constexpr std::string_view longest_tier = ".delay.604800000ms.classic";

// Control characters, also those that UTF-8 writes as C2 80 to C2 9F.
bool has_control(std::string_view name) {
    for (std::size_t i = 0; i < name.size(); ++i) {
        const auto c = static_cast<unsigned char>(name[i]);
        if (c < 0x20 || c == 0x7F) return true;
        if (c == 0xC2 && i + 1 < name.size() && static_cast<unsigned char>(name[i + 1]) < 0xA0) return true;
    }
    return false;
}

// The part of a tier's name before "delay." or "hold."; empty when it is not built like one.
std::string tier_prefix_of(std::string_view name) {
    if (name.ends_with(".classic")) name.remove_suffix(8);
    if (!name.ends_with("ms")) return {};
    name.remove_suffix(2);
    const std::size_t dot = name.rfind('.');
    if (dot == std::string_view::npos || dot + 1 == name.size()) return {};
    const std::string_view digits = name.substr(dot + 1);
    if (!std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; })) return {};
    name = name.substr(0, dot);
    for (const std::string_view kind : {".delay", ".hold"}) {
        if (name.ends_with(kind)) return std::string(name.substr(0, name.size() - kind.size() + 1));
    }
    return {};
}

}  // namespace

std::optional<Problem> queue_name_trouble(std::string_view name) {
    const auto wrong = [](std::string what, std::string hint) {
        return Problem{ProblemCode::bad_value, {}, std::move(what), std::move(hint)};
    };
    if (name.empty()) return wrong("the name of a queue is empty", "1 to 255 bytes");
    if (name.size() > 255) return wrong("the name of a queue is over 255 bytes", "the broker allows no more");
    if (has_control(name)) return wrong("the name of a queue has a control character", "printable characters only");
    if (name.front() == ' ' || name.back() == ' ')
        return wrong("the name of a queue begins or ends with a space", "take it off");
    return std::nullopt;
}

void OwnNames::give(const std::string& queue, model::QueuePolicy& policy) {
    const std::string base = prefix_ + queue;
    policy.name = {queue};
    policy.lane = {base + ".lane"};
    policy.parked = {base + ".parked"};
    policy.dlq = {base + ".dlq"};
    policy.tier_prefix = base + ".";
    plain_[policy.lane.value] = "the return lane of " + quoted(queue);
    plain_[policy.parked.value] = "the parking lot of " + quoted(queue);
    plain_[policy.dlq.value] = "the dead-letter lot of " + quoted(queue);
    tiers_[policy.tier_prefix] = queue;
}

std::optional<std::string> OwnNames::meaning(const std::string& name) const {
    const auto plain = plain_.find(name);
    if (plain != plain_.end()) return plain->second;
    const auto tier = tiers_.find(tier_prefix_of(name));
    if (tier != tiers_.end()) return "a delay queue of " + quoted(tier->second);
    return std::nullopt;
}

bool OwnNames::is_lot(const std::string& name) const {
    const auto plain = plain_.find(name);
    return plain != plain_.end() && !name.ends_with(".lane");
}

std::size_t OwnNames::longest(const std::string& queue) const {
    return prefix_.size() + queue.size() + longest_tier.size();
}

}  // namespace retryd::policyfile
