#include "engine/copying.hpp"

#include "engine/arrivals.hpp"
#include "engine/telling.hpp"
#include "engine/topology.hpp"

#include <algorithm>

namespace retryd::engine {

using core::Verdict;
using model::RecordSize;

namespace {

// Class, weight and body size before the properties, and the frame round it all.
constexpr std::size_t header_frame_overhead = 12 + 8;
// What the broker may add to the headers on the hop through a tier (x-death and its kin), with room to spare where frames
// have it: of the smallest, 4 KiB, it would leave nothing.
std::size_t hop_headroom(const State& state) {
    return std::min<std::size_t>(4096, state.frame_max / 4);
}

const model::QueueName& lot_for(const model::QueuePolicy& policy, model::Reason reason) {
    switch (reason) {
        case model::Reason::exhausted: return policy.to.exhausted;
        case model::Reason::poison: return policy.to.poison;
        case model::Reason::permanent: return policy.to.permanent;
        case model::Reason::age: return policy.to.age;
        case model::Reason::held: return policy.to.held;
        case model::Reason::expired: return policy.to.expired;
    }
    return policy.to.exhausted;
}

model::LedgerEntry entry_for(const State& state, const Verdict& verdict, const core::Judgement* judgement) {
    model::LedgerEntry entry;
    entry.ledger = verdict.ledger;
    entry.reason = verdict.reason;
    entry.wait = verdict.ledger.last_wait;
    entry.at = state.now.wall;
    if (judgement == nullptr) return entry;
    entry.outcome = judgement->outcome;
    entry.error_type = judgement->error_type;
    entry.error_message = judgement->error_message;
    entry.dependency = judgement->dependency;
    entry.app_version = judgement->app_version;
    return entry;
}

model::QueueSpec target_of(const model::QueuePolicy& policy, const Verdict& verdict) {
    switch (verdict.kind) {
        case Verdict::Kind::tier: return model::tier_queue(policy, verdict.tier, verdict.wait);
        case Verdict::Kind::lane: return model::plain_queue(policy.lane, policy.retry.queue_type);
        case Verdict::Kind::lot: return model::plain_queue(lot_for(policy, *verdict.reason), policy.retry.queue_type);
        case Verdict::Kind::ack:
        case Verdict::Kind::again:
        case Verdict::Kind::wait: break;
    }
    return {};
}

bool fits(const State& state, const std::string& properties, std::size_t headroom) {
    return properties.size() + header_frame_overhead + headroom <= state.frame_max;
}

// Headers that could not make the hop through a tier make the message park instead; our record is then cut until it fits.
Verdict write(State& state, Held& held, const model::QueuePolicy& policy, Verdict verdict, const core::Judgement* judgement) {
    const auto& host = state.options.host;
    const auto full = [&] {
        return model::write_copy(held.record, entry_for(state, verdict, judgement), policy, host, RecordSize::full);
    };
    held.copy_properties = full();
    held.copy_has_id = true;
    if (verdict.kind != Verdict::Kind::lot && !fits(state, held.copy_properties, hop_headroom(state))) {
        log(state, model::LogLevel::warn, "headers_too_large",
            {{"queue", policy.name.value}, {"id", held.record.id}, {"bytes", std::to_string(held.copy_properties.size())}});
        verdict.kind = Verdict::Kind::lot;
        verdict.reason = model::Reason::exhausted;
        held.copy_properties = full();
    }
    for (const auto size : {RecordSize::reason, RecordSize::none}) {
        if (fits(state, held.copy_properties, 0)) break;
        held.copy_has_id = size != RecordSize::none;
        held.copy_properties = model::write_copy(held.record, entry_for(state, verdict, judgement), policy, host, size);
    }
    return verdict;
}

void remember_tier(QueueState& queue, const model::QueueSpec& target, const Verdict& verdict) {
    if (verdict.kind != Verdict::Kind::tier || queue.tiers.contains(target.name)) return;
    const bool hold = verdict.tier == model::TierKind::hold;
    queue.tiers.emplace(target.name, TierState{hold ? "hold" : "delay", std::to_string(verdict.wait.count()) + "ms",
                                               core::TierWatch{verdict.wait}});
}

void count_tier(model::QueueFigures& figures, const std::string& tier) {
    for (auto& known : figures.scheduled) {
        if (known.tier == tier) {
            ++known.scheduled;
            return;
        }
    }
    figures.scheduled.push_back({tier, 1});
}

// What the publish link has forgotten and the broker delivers again anyway.
void forget_orphans(State& state) {
    std::vector<model::DeliveryKey> gone;
    for (const auto& [key, held] : state.hand.all()) {
        if (held.orphan && held.state == Held::State::copying && state.copies.forget(key)) gone.push_back(key);
    }
    for (const auto key : gone) let_go(state, *state.hand.find(key));
}

// After an answer that was not a confirm: an original that comes again anyway needs no second try.
void drop_if_orphaned(State& state, std::optional<model::DeliveryKey> delivery) {
    auto* held = delivery ? state.hand.find(*delivery) : nullptr;
    if (held != nullptr && held->orphan && state.copies.forget(held->key)) let_go(state, *held);
}

}  // namespace

void start_copy(State& state, Held& held, const Verdict& wanted, const core::Judgement* judgement) {
    auto& queue = state.queue(held.queue());
    const auto verdict = write(state, held, queue.policy, wanted, judgement);
    const auto target = target_of(queue.policy, verdict);
    held.state = Held::State::copying;
    held.since = state.now.steady;
    held.reason = verdict.reason;
    held.tier.clear();
    if (verdict.kind == Verdict::Kind::tier)
        held.tier = verdict.tier == model::TierKind::hold ? "hold" : std::to_string(verdict.rung);
    ++queue.copying;
    remember_tier(queue, target, verdict);
    tell(state, held, verdict, judgement, target.name);
    state.copies.add(held.key, target, {held.message->body.size() + held.copy_properties.size()});
    state.touch(queue);
}

void confirmed(State& state, ports::PublishKey key) {
    const auto done = state.copies.confirmed(key.value);
    auto* held = done ? state.hand.find(done->delivery) : nullptr;
    if (held == nullptr) return;
    auto& figures = state.figures_of(state.queue(held->queue()));
    state.figures.confirm_seconds.observe(std::chrono::duration<double>(state.now.steady - done->sent).count());
    if (held->reason) ++figures.parked[static_cast<std::size_t>(*held->reason)];
    if (!held->tier.empty()) count_tier(figures, held->tier);
    settle(state, *held);
}

void nacked(State& state, ports::PublishKey key) {
    const auto delivery = state.copies.nacked(key.value, state.now.steady, state.chance());
    const auto queue = delivery ? state.copies.target(*delivery).value : std::string();
    if (delivery && state.limiter.admit("nacked", queue, state.now.steady))
        log(state, model::LogLevel::warn, "nacked", {{"by", queue}});
    drop_if_orphaned(state, delivery);
}

void returned(State& state, ports::PublishKey key, const std::string& why) {
    const auto delivery = state.copies.returned(key.value, state.now.steady);
    const auto queue = delivery ? state.copies.target(*delivery).value : std::string();
    if (delivery && state.limiter.admit("returned", queue, state.now.steady))
        log(state, model::LogLevel::warn, "returned", {{"by", queue}, {"why", why}});
    drop_if_orphaned(state, delivery);
}

void publish_channel_closed(State& state, const std::string& why) {
    log(state, model::LogLevel::warn, "publish_channel_closed", {{"why", why}});
    state.to_publish.drop_copies();
    state.copies.channel_closed(why, state.now.steady);
    forget_orphans(state);
}

void publish_link_down(State& state) {
    state.copies.link_down(state.now.steady);
    forget_orphans(state);
}

void advance_copies(State& state) {
    auto& actions = state.copy_actions;
    actions.clear();
    state.copies.advance(state.now.steady, actions);
    for (const auto& spec : actions.declare) ask(state, {Question::Purpose::target, {}, spec});
    for (const auto& publish : actions.publish) {
        const auto& held = *state.hand.find(publish.delivery);
        state.to_publish.add_patient(ports::PublishCopy{{publish.number},
                                                        state.copies.target(publish.delivery),
                                                        held.copy_has_id ? held.record.id : std::string{},
                                                        held.copy_properties,
                                                        held.message},
                                     state.now.steady);
    }
    using Renewal = core::CopyActions::Renewal;
    if (actions.renew_link == Renewal::none) return;
    log(state, model::LogLevel::warn, actions.renew_link == Renewal::confirm_late ? "confirm_late" : "only_nacks", {});
    state.ports.broker.disconnect(ports::Link::publish);
}

}  // namespace retryd::engine
