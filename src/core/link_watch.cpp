#include "core/link_watch.hpp"

#include <algorithm>

namespace retryd::core {

namespace {

constexpr std::uint32_t second_in_tenths = 10;
constexpr std::uint32_t thread_named_after = 5 * second_in_tenths;
constexpr std::uint32_t thread_ended_after = 15 * second_in_tenths;

std::uint32_t tenths_in(model::Milliseconds span) {
    return static_cast<std::uint32_t>(std::chrono::ceil<std::chrono::seconds>(span).count()) * second_in_tenths;
}

}  // namespace

LinkWatch::LinkWatch(model::Milliseconds answers_within, model::Milliseconds connects_within)
    : answers_within_(std::max(tenths_in(answers_within), second_in_tenths)), connects_within_(tenths_in(connects_within)) {}

LinkWatch::Silence LinkWatch::silence_of(const Second& second) const {
    if (second.connecting) return second.lives ? Silence::none : Silence::connecting;
    if (!second.lives) return Silence::thread;
    const bool answered = second.pending == 0 || second.answers != answers_;
    return answered || second.excused ? Silence::none : Silence::broker;
}

bool LinkWatch::passed(const Second& second, model::SteadyTime now) {
    const auto kind = silence_of(second);
    answers_ = second.answers;
    if (kind != kind_) {
        link_changed();
        kind_ = kind;
        since_ = now;
    }
    if (kind == Silence::none) return false;
    tenths_ += second.busy ? 1 : second_in_tenths;
    if (ended_ || tenths_ < tenths_until_ended()) return false;
    return ended_ = true;
}

void LinkWatch::link_changed() {
    kind_ = Silence::none;
    tenths_ = 0;
    ended_ = false;
}

std::uint32_t LinkWatch::tenths_until_ended() const {
    switch (kind_) {
        case Silence::none: break;
        case Silence::connecting: return connects_within_;
        case Silence::thread: return thread_ended_after;
        case Silence::broker: return answers_within_;
    }
    return 0;
}

std::uint32_t LinkWatch::tenths_until_named() const {
    switch (kind_) {
        case Silence::none: break;
        case Silence::connecting: return connects_within_;
        case Silence::thread: return thread_named_after;
        case Silence::broker: return answers_within_ / 3;
    }
    return 0;
}

LinkWatch::Silence LinkWatch::silence() const {
    return tenths_ >= tenths_until_named() ? kind_ : Silence::none;
}

}  // namespace retryd::core
