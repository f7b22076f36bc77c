#include "engine/verdicts.hpp"

#include "engine/arrivals.hpp"
#include "engine/copying.hpp"
#include "engine/outcomes.hpp"
#include "engine/telling.hpp"
#include "engine/trials.hpp"

#include <utility>

namespace retryd::engine {

using model::Outcome;
using Watch = core::ConsumerWatch::State;

namespace {

constexpr std::uint32_t presence_lines = 5;           // of each kind in ten seconds
constexpr model::Milliseconds dying_takes{1000};      // a consumer that still answers some
constexpr model::Milliseconds mending_takes{10'000};  // one that answers nobody

// A consumer's words may be as long as its reply; what is kept of them is not.
constexpr std::size_t longest_trouble = 512;
constexpr std::size_t longest_last_error = 128;

bool is_done(Outcome outcome) {
    return outcome == Outcome::success || outcome == Outcome::drop;
}

std::string reason_of(const core::Judgement& judgement) {
    const auto& type = judgement.error_type;
    return model::cut_text(judgement.error_message.empty() ? type : type + ": " + judgement.error_message, longest_trouble);
}

// A consumer that comes and goes many times a second does not fill the log.
void log_presence(State& state, const QueueState& queue, model::LogLevel level, std::string_view event) {
    const auto& name = queue.policy.name.value;
    if (!state.limiter.admit(name + " " + std::string(event), {}, state.now.steady, presence_lines)) return;
    std::vector<std::pair<std::string_view, std::string>> fields{{"queue", name}};
    if (level == model::LogLevel::warn) fields.emplace_back("why", queue.consumer_trouble);
    log(state, level, event, std::move(fields));
}

void log_change(State& state, QueueState& queue, Watch before) {
    const auto after = queue.watch.state();
    if (before == after) return;
    if (after == Watch::present) log_presence(state, queue, model::LogLevel::info, "consumer_present");
    if (after == Watch::away && before != Watch::trying) log_presence(state, queue, model::LogLevel::warn, "consumer_away");
    if (after == Watch::not_ready) log_presence(state, queue, model::LogLevel::warn, "consumer_not_ready");
    if (after == Watch::misconfigured && before == Watch::present)
        log_presence(state, queue, model::LogLevel::warn, "consumer_misconfigured");
}

// What the outcome says about the consumer itself.
void tell_watch(State& state, QueueState& queue, const core::Judgement& judgement) {
    const auto before = queue.watch.state();
    switch (judgement.outcome) {
        case Outcome::unavailable:
            queue.consumer_trouble = model::cut_text(judgement.error_message, longest_trouble);
            queue.watch.unavailable(state.now.steady, state.chance());
            break;
        case Outcome::endpoint:
            queue.consumer_trouble = reason_of(judgement);
            queue.watch.endpoint(state.now.steady, state.chance());
            break;
        case Outcome::timeout:
        case Outcome::lost: break;  // says nothing sure
        case Outcome::success:
        case Outcome::drop:
        case Outcome::transient:
        case Outcome::permanent:
        case Outcome::throttled: queue.watch.answered(is_done(judgement.outcome), state.now.steady); break;
    }
    log_change(state, queue, before);
}

void share_the_loss(State& state, const QueueState& queue) {
    for (const auto& [deadline, key] : queue.deadlines) {
        auto* other = state.hand.find(key);
        if (other != nullptr && other->state == Held::State::at_consumer) other->shares_a_loss = true;
    }
}

// A consumer that dies of one message takes others for a moment, or answers nobody until it is mended: a loss soon after
// another one says nothing about the message.
bool is_alone(const State& state, const QueueState& queue, const Held& held) {
    const auto& last = queue.last_loss;
    const auto suspicious_for = last.answered_since ? dying_takes : mending_takes;
    const bool of_another = !last.id.empty() && last.id != held.record.id && state.now.steady - last.at < suspicious_for;
    return queue.in_flight == 0 && !held.shares_a_loss && !of_another;
}

void remember_loss(const State& state, QueueState& queue, const Held& held, Outcome outcome) {
    if (outcome == Outcome::lost) {
        queue.last_loss = {held.record.id, state.now.steady, false};
    } else if (outcome != Outcome::unavailable && outcome != Outcome::timeout) {
        queue.last_loss.answered_since = true;
    }
}

constexpr model::Milliseconds fallback_is_away_for{5000};

// A fallback speaks of this message and of itself, never of the consumer that it stands in for. What it cannot do waits, and
// is charged nothing.
void judge_at_fallback(State& state, Held& held, const core::Judgement& judgement) {
    auto& queue = state.queue(held.queue());
    const auto [dependency, position] = *std::exchange(held.fallback, std::nullopt);
    const auto outcome = judgement.outcome;
    take_back(state, queue, held);
    ++state.figures_of(queue).deliveries[static_cast<std::size_t>(outcome)];
    state.touch(queue);
    const bool is_away = outcome == Outcome::unavailable || outcome == Outcome::endpoint;
    if (is_away) state.dependencies[dependency].fallback_away[position] = state.now.steady + fallback_is_away_for;
    if (is_done(outcome))
        return carry_out(state, held, {.kind = core::Verdict::Kind::ack, .ledger = held.stay.ledger}, judgement);
    if (held.orphan) return let_go(state, held);
    if (is_away) return make_ready(state, held, true);
    divert(state, held, true);
}

void judge(State& state, Held& held, const core::Judgement& judgement) {
    if (held.fallback) return judge_at_fallback(state, held, judgement);
    auto& queue = state.queue(held.queue());
    take_back(state, queue, held, &judgement);
    ++state.figures_of(queue).deliveries[static_cast<std::size_t>(judgement.outcome)];
    tell_watch(state, queue, judgement);
    const bool alone = is_alone(state, queue, held);
    remember_loss(state, queue, held, judgement.outcome);
    if (judgement.outcome == Outcome::lost && !alone) share_the_loss(state, queue);
    held.shares_a_loss = false;
    state.touch(queue);
    if (held.orphan && !is_done(judgement.outcome)) return let_go(state, held);  // the broker delivers it again
    held.stay.draining = state.drain != State::Drain::no;
    const auto guards = is_done(judgement.outcome) ? core::GuardsView{} : guards_view(state, queue, held);
    const auto verdict = core::decide(queue.policy, held.stay, judgement, alone, state.now.wall, state.chance(), guards);
    const bool poison = verdict.reason == model::Reason::poison;
    carry_out(state, held, verdict, poison ? poisoned(held, judgement.error_message) : judgement);
}

void stay_in_hand(State& state, Held& held, const core::Verdict& verdict) {
    auto& queue = state.queue(held.queue());
    held.stay.ledger = verdict.ledger;
    held.state = Held::State::waiting;
    held.since = state.now.steady;
    held.until = state.now.steady + verdict.wait;
    queue.waiting.emplace(held.until, held.key);
    state.touch(queue);
}

}  // namespace

void take_back(State& state, QueueState& queue, Held& held, const core::Judgement* judgement) {
    --queue.in_flight;
    tell_guards(state, queue, held, judgement);
    queue.trial_runs = false;
    if (held.side() == model::Side::lane) --queue.lane_in_flight;
    held.state = Held::State::waiting;  // until its verdict
    const auto took = std::chrono::duration<double>(state.now.steady - held.since).count();
    state.figures_of(queue).delivery_seconds.observe(took);
}

void replied(State& state, model::DeliveryKey key, const model::Reply& reply) {
    auto* held = state.hand.find(key);
    if (held == nullptr || held->state != Held::State::at_consumer) return;
    const auto& queue = state.queue(held->queue());
    judge(state, *held, core::classify(queue.policy, held->rules, reply, queue.watch.proven(), state.now.wall));
}

void probed(State& state, QueueState& queue, const std::string& trouble) {
    const auto before = queue.watch.state();
    if (trouble.empty()) {
        queue.watch.probe_succeeded(state.now.steady);
    } else {
        if (queue.consumer_trouble.empty() && before == Watch::away)
            log(state, model::LogLevel::warn, "consumer_away", {{"queue", queue.policy.name.value}, {"why", trouble}});
        queue.consumer_trouble = trouble;
        queue.watch.probe_failed(state.now.steady, state.chance());
    }
    log_change(state, queue, before);
    state.touch(queue);
}

void not_ready(State& state, QueueState& queue, const std::string& why) {
    const auto before = queue.watch.state();
    queue.consumer_trouble = why;
    queue.watch.probe_refused(state.now.steady);
    log_change(state, queue, before);
    state.touch(queue);
}

void consumer_gone(State& state, QueueState& queue, const std::string& why) {
    const auto before = queue.watch.state();
    queue.consumer_trouble = why;
    queue.watch.unavailable(state.now.steady, state.chance());
    log_change(state, queue, before);
    state.touch(queue);
}

void give_back_trial(State& state, Held& held) {
    state.ports.consumer.abandon(held.key);
    take_back(state, state.queue(held.queue()), held);
    carry_out_uncounted(state, held, core::step_back(held.stay));
}

void timed_out(State& state, Held& held) {
    const bool sent = state.ports.consumer.abandon(held.key);
    const auto time = std::to_string(state.queue(held.queue()).policy.deliver.timeout.count()) + " ms";
    core::Judgement judgement;
    judgement.outcome = sent ? Outcome::timeout : Outcome::unavailable;
    judgement.error_type = sent ? "retryd.Timeout" : "retryd.Unavailable";
    judgement.error_message = (sent ? "no reply in " : "nothing could be sent in ") + time;
    judge(state, held, judgement);
}

void carry_out(State& state, Held& held, const core::Verdict& verdict, const core::Judgement& judgement) {
    charge_budgets(state, state.queue(held.queue()), verdict);
    switch (verdict.kind) {
        case core::Verdict::Kind::ack:
            tell(state, held, verdict, &judgement, {});
            settle(state, held);
            return;
        case core::Verdict::Kind::again: make_ready(state, held, true); return;
        case core::Verdict::Kind::wait:
            tell(state, held, verdict, &judgement, {});
            ++held.stay.quick_used;
            held.record.last_error = model::cut_text(judgement.error_type, longest_last_error);
            held.stay.standing = core::Standing::trusted;
            stay_in_hand(state, held, verdict);
            return;
        case core::Verdict::Kind::tier:
        case core::Verdict::Kind::lane:
        case core::Verdict::Kind::lot: start_copy(state, held, verdict, &judgement); return;
    }
}

void carry_out_uncounted(State& state, Held& held, const core::Verdict& verdict) {
    charge_budgets(state, state.queue(held.queue()), verdict);
    if (verdict.kind == core::Verdict::Kind::wait) {
        stay_in_hand(state, held, verdict);
    } else {
        start_copy(state, held, verdict, nullptr);
    }
}

}  // namespace retryd::engine
