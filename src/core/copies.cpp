#include "core/copies.hpp"

#include "core/ladder.hpp"

#include <algorithm>

namespace retryd::core {

using model::DeliveryKey;
using model::SteadyTime;

namespace {

constexpr std::size_t window_copies = 256;
constexpr std::uint64_t window_bytes = 16 * 1024 * 1024;
constexpr std::uint32_t links_lost_at_most = 3;
constexpr model::Milliseconds first_pause{1000};
constexpr model::Milliseconds longest_pause{30000};
constexpr model::Milliseconds first_rest{30000};
constexpr model::Milliseconds longest_rest{300000};
constexpr model::Milliseconds first_link_after{20000};
constexpr model::Milliseconds longest_link_after{300000};

}  // namespace

void CopyActions::clear() {
    publish.clear();
    declare.clear();
    renew_link = Renewal::none;
}

void Copies::add(DeliveryKey delivery, const model::QueueSpec& target, model::ByteCount size) {
    if (copies_.empty()) unanswered_since_.reset();
    auto& copy = copies_[delivery];
    copy.target = target.name;
    copy.size = size;
    if (!targets_.contains(target.name))
        targets_.emplace(target.name, Target{target, Belief::unknown, {}, {}, 0, SteadyTime::min(), 0});
    enqueue(delivery, copy);
}

bool Copies::forget(DeliveryKey delivery) {
    const auto found = copies_.find(delivery);
    if (found == copies_.end()) return true;
    if (found->second.state == State::in_flight) return false;
    copies_.erase(found);  // the lists skip keys that are gone
    return true;
}

void Copies::forget_all() {
    copies_.clear();
    in_flight_.clear();
    bytes_in_flight_ = 0;
    ready_.clear();
    suspects_.clear();
    pausing_.clear();
    to_declare_.clear();
}

void Copies::link_up() {
    up_ = true;
    blocked_ = false;
    renewing_ = false;
    wants_new_link_ = false;
}

void Copies::link_down(SteadyTime now) {
    up_ = false;
    blocked_ = false;
    if (in_flight_.size() == 1) {
        const auto delivery = in_flight_.begin()->second.delivery;
        auto& copy = copies_.at(delivery);
        if (renewing_ && copy.suspect) {
            mind_silence(targets_.at(copy.target), now);
        } else if (!renewing_ && ++copy.links_lost >= links_lost_at_most) {
            rest_longer_each_time(delivery, "the link was lost each time it was published", now);
        }
    }
    void_flights();
}

void Copies::blocked(bool on, SteadyTime now) {
    blocked_ = on;
    unanswered_since_.reset();
    // The time under an alarm does not count against the confirms that are due.
    for (auto& [number, flight] : in_flight_) flight.sent = now;
}

// Whatever is in flight has no answer any more: each goes again, alone, in the old order and before all others.
void Copies::void_flights() {
    for (auto it = in_flight_.rbegin(); it != in_flight_.rend(); ++it) {
        auto& copy = copies_.at(it->second.delivery);
        copy.suspect = true;
        if (copy.state == State::resting) continue;
        copy.state = State::ready;
        suspects_.push_front(it->second.delivery);
    }
    in_flight_.clear();
    bytes_in_flight_ = 0;
}

void Copies::rest(DeliveryKey delivery, const std::string& why, SteadyTime until) {
    auto& copy = copies_.at(delivery);
    copy.unroutable = true;
    copy.trouble = why;
    pause(delivery, copy, until);
    copy.state = State::resting;
}

// It may be the copy, or only a bad time for it: it is not given up, but it disturbs the others seldom.
void Copies::rest_longer_each_time(DeliveryKey delivery, const std::string& why, SteadyTime now) {
    rest(delivery, why, now + grown(first_rest, longest_rest, copies_.at(delivery).rests++));
}

Copies::Copy* Copies::take(std::uint64_t number, DeliveryKey& delivery) {
    const auto found = in_flight_.find(number);
    if (found == in_flight_.end()) return nullptr;
    delivery = found->second.delivery;
    in_flight_.erase(found);
    unanswered_since_.reset();
    auto& copy = copies_.at(delivery);
    bytes_in_flight_ -= copy.size.value;
    copy.suspect = false;  // it has an answer, so it does not close the channel
    return &copy;
}

std::optional<Copies::Done> Copies::confirmed(std::uint64_t number) {
    const auto found = in_flight_.find(number);
    if (found == in_flight_.end()) return std::nullopt;
    Done done{found->second.delivery, found->second.sent};
    const auto* copy = take(number, done.delivery);
    if (some_trouble_) forgive(copy->target);
    copies_.erase(done.delivery);
    return done;
}

std::optional<DeliveryKey> Copies::nacked(std::uint64_t number, SteadyTime now, std::uint64_t random) {
    DeliveryKey delivery;
    auto* copy = take(number, delivery);
    if (copy == nullptr) return std::nullopt;
    copy->unroutable = copy->refusals > 0;  // once may be a moment of the broker's
    copy->trouble = "refused by the broker";
    pause(delivery, *copy, now + half_jitter(grown(first_pause, longest_pause, copy->refusals++), random));
    mind_nacks(targets_.at(copy->target), now);
    return delivery;
}

void Copies::mind_nacks(Target& target, SteadyTime now) {
    some_trouble_ = true;
    target.silences = 0;
    if (!target.nacking_since) target.nacking_since = now;
    if (now - *target.nacking_since < grown(first_link_after, longest_link_after, target.links_for_it)) return;
    target.nacking_since = now;
    ++target.links_for_it;
    wants_new_link_ = true;
}

// Its other copies would each cost a link again.
void Copies::mind_silence(Target& target, SteadyTime now) {
    some_trouble_ = true;
    target.silent_until = now + grown(confirm_timeout_, longest_rest, target.silences++);
}

void Copies::forgive(const model::QueueName& queue) {
    auto& forgiven = targets_.at(queue);
    forgiven.nacking_since.reset();
    forgiven.links_for_it = 0;
    forgiven.silences = 0;
    some_trouble_ = std::any_of(targets_.begin(), targets_.end(), [](const auto& each) {
        return each.second.nacking_since.has_value() || each.second.silences > 0;
    });
}

std::optional<DeliveryKey> Copies::returned(std::uint64_t number, SteadyTime now) {
    DeliveryKey delivery;
    auto* copy = take(number, delivery);
    if (copy == nullptr) return std::nullopt;
    auto& target = targets_.at(copy->target);
    if (target.belief == Belief::there) target.belief = Belief::unknown;
    copy->unroutable = copy->refusals > 0;
    copy->trouble = "no queue takes it";
    if (copy->unroutable) {
        pause(delivery, *copy, now + grown(first_pause, longest_pause, copy->refusals));
    } else {
        enqueue(delivery, *copy);
    }
    ++copy->refusals;
    return delivery;
}

void Copies::channel_closed(const std::string& why, SteadyTime now) {
    if (in_flight_.size() == 1) rest_longer_each_time(in_flight_.begin()->second.delivery, why, now);
    void_flights();
}

void Copies::declared(const model::QueueName& queue, bool exists, SteadyTime now) {
    const auto found = targets_.find(queue);
    if (found == targets_.end() || found->second.belief != Belief::declaring) return;
    auto& target = found->second;
    target.belief = exists ? Belief::there : Belief::unknown;
    const auto waiting = std::exchange(target.waiting, {});
    for (const auto delivery : waiting) {
        const auto it = copies_.find(delivery);
        if (it == copies_.end() || it->second.state != State::undeclared) continue;
        auto& copy = it->second;
        if (exists) {
            enqueue(delivery, copy);
        } else {
            copy.unroutable = true;
            pause(delivery, copy, now + grown(first_pause, longest_pause, copy.refusals++));
        }
    }
}

void Copies::declaring_failed() {
    for (auto& [name, target] : targets_) {
        if (target.belief != Belief::declaring) continue;
        target.belief = Belief::unknown;
        to_declare_.push_back(name);
    }
}

void Copies::enqueue(DeliveryKey delivery, Copy& copy) {
    auto& target = targets_.at(copy.target);
    if (target.belief == Belief::there) {
        copy.state = State::ready;
        ready_.push_back(delivery);
    } else {
        copy.state = State::undeclared;
        target.waiting.push_back(delivery);
        if (target.belief == Belief::unknown) to_declare_.push_back(copy.target);
    }
}

void Copies::pause(DeliveryKey delivery, Copy& copy, SteadyTime until) {
    copy.state = State::pausing;
    pausing_.emplace(until, delivery);
}

void Copies::wake(SteadyTime now) {
    while (!pausing_.empty() && pausing_.begin()->first <= now) {
        const auto delivery = pausing_.begin()->second;
        pausing_.erase(pausing_.begin());
        const auto it = copies_.find(delivery);
        if (it == copies_.end()) continue;
        auto& copy = it->second;
        if (copy.state == State::pausing) enqueue(delivery, copy);
        if (copy.state != State::resting) continue;
        copy.state = State::ready;  // alone, as one that may do it again
        suspects_.push_back(delivery);
    }
}

void Copies::advance(SteadyTime now, CopyActions& out) {
    wake(now);
    ask_for_declarations(out);
    fill_window(now, out);
    if (renewing_ || !up_) return;
    if (wants_new_link_ && in_flight_.empty()) {
        renewing_ = true;
        out.renew_link = CopyActions::Renewal::only_nacks;
        return;
    }
    const bool late = !in_flight_.empty() && !blocked_ && now - in_flight_.begin()->second.sent >= confirm_timeout_;
    if (!late) return;
    renewing_ = true;
    out.renew_link = CopyActions::Renewal::confirm_late;
    if (!unanswered_since_) unanswered_since_ = in_flight_.begin()->second.sent;
}

std::optional<SteadyTime> Copies::late_since(SteadyTime now) const {
    if (blocked_ || copies_.empty()) return std::nullopt;
    if (unanswered_since_) return unanswered_since_;
    if (in_flight_.empty()) return std::nullopt;
    const auto sent = in_flight_.begin()->second.sent;
    return now - sent >= confirm_timeout_ / 3 ? std::optional(sent) : std::nullopt;
}

void Copies::ask_for_declarations(CopyActions& out) {
    if (!up_) return;  // a question that is heard although its answer is not awaited would shift every later one
    for (const auto& name : std::exchange(to_declare_, {})) {
        auto& target = targets_.at(name);
        if (target.belief != Belief::unknown) continue;
        target.belief = Belief::declaring;
        out.declare.push_back(target.spec);
    }
}

// What stands at the front may go, or nothing stands there.
void Copies::settle_front(std::deque<DeliveryKey>& list, SteadyTime now) {
    for (; !list.empty(); list.pop_front()) {
        const auto it = copies_.find(list.front());
        if (it == copies_.end() || it->second.state != State::ready) continue;
        const auto silent_until = some_trouble_ ? targets_.at(it->second.target).silent_until : SteadyTime::min();
        if (silent_until <= now) return;
        rest(it->first, "its queue confirms nothing", silent_until);
    }
}

// The list whose front may go next: suspects alone and first.
std::deque<DeliveryKey>* Copies::sendable(SteadyTime now) {
    settle_front(suspects_, now);
    settle_front(ready_, now);
    if (!suspects_.empty()) return in_flight_.empty() ? &suspects_ : nullptr;
    return ready_.empty() ? nullptr : &ready_;
}

void Copies::fill_window(SteadyTime now, CopyActions& out) {
    while (up_ && !blocked_ && !renewing_ && !wants_new_link_) {
        // A suspect in flight goes alone.
        if (in_flight_.size() == 1 && copies_.at(in_flight_.begin()->second.delivery).suspect) return;
        auto* list = sendable(now);
        if (list == nullptr) return;
        const auto delivery = list->front();
        auto& copy = copies_.at(delivery);
        const bool fits = in_flight_.size() < window_copies && bytes_in_flight_ + copy.size.value <= window_bytes;
        if (!in_flight_.empty() && !fits) return;
        list->pop_front();
        copy.state = State::in_flight;
        bytes_in_flight_ += copy.size.value;
        in_flight_.emplace(++last_number_, InFlight{delivery, now});
        out.publish.push_back({delivery, last_number_});
    }
}

SteadyTime Copies::next() const {
    auto when = pausing_.empty() ? SteadyTime::max() : pausing_.begin()->first;
    if (!in_flight_.empty() && !blocked_ && !renewing_) {
        when = std::min(when, in_flight_.begin()->second.sent + confirm_timeout_);
    }
    return when;
}

bool Copies::is_unroutable(DeliveryKey delivery) const {
    const auto found = copies_.find(delivery);
    return found != copies_.end() && found->second.unroutable;
}

bool Copies::is_resting(DeliveryKey delivery) const {
    const auto found = copies_.find(delivery);
    return found != copies_.end() && found->second.state == State::resting;
}

std::string Copies::trouble(DeliveryKey delivery) const {
    const auto found = copies_.find(delivery);
    return found == copies_.end() ? std::string{} : found->second.trouble;
}

}  // namespace retryd::core
