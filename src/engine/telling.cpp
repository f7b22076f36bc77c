#include "engine/telling.hpp"

namespace retryd::engine {

using core::Verdict;
using model::LogLevel;
using model::Outcome;

namespace {

constexpr std::size_t longest_logged = 256;

// Not told at all: plain success, and what is a fact about the consumer alone.
bool is_silent(const Verdict& verdict, const core::Judgement* judgement, std::uint32_t attempts) {
    if (verdict.kind == Verdict::Kind::again) return true;
    return verdict.kind == Verdict::Kind::ack && judgement->outcome == Outcome::success && attempts == 0;
}

// What no delivery led to, and yet goes into the lane, goes there for a trial.
std::string_view lane_event(const Held& held, const Verdict& verdict, const core::Judgement* judgement) {
    if (judgement != nullptr) return "lost_with_others";
    const bool stamped = verdict.ledger.suspect > held.stay.ledger.suspect;
    return stamped ? "tried_alone" : "trial_put_off";
}

std::string_view event_of(const Held& held, const Verdict& verdict, const core::Judgement* judgement) {
    switch (verdict.kind) {
        case Verdict::Kind::ack: return "dropped";
        case Verdict::Kind::again:
        case Verdict::Kind::wait: return "retry";
        case Verdict::Kind::tier: return verdict.tier == model::TierKind::delay ? "retry" : "held";
        case Verdict::Kind::lane: return lane_event(held, verdict, judgement);
        case Verdict::Kind::lot: return "parked";
    }
    return "";
}

// Equal lines of the log have equal details; shown when they are summed up.
std::string detail_of(const core::Judgement* judgement) {
    if (judgement == nullptr) return {};
    return model::cut_text(judgement->error_type, 64) + " " +
           model::fingerprint(judgement->error_type, judgement->error_message);
}

void write_line(State& state, const Held& held, const Verdict& verdict, const core::Judgement* judgement,
                const model::QueueName& place) {
    const auto& policy = state.queue(held.queue()).policy;
    const auto event = event_of(held, verdict, judgement);
    if (!state.ports.journal.keeps(LogLevel::info)) return;
    const auto kind = policy.name.value + " " + std::string(event);
    if (verdict.kind != Verdict::Kind::lot && !state.limiter.admit(kind, detail_of(judgement), state.now.steady)) return;
    std::vector<std::pair<std::string_view, std::string>> fields{{"queue", policy.name.value}, {"id", held.record.id}};
    if (verdict.reason) fields.emplace_back("reason", model::to_text(*verdict.reason));
    fields.emplace_back("attempts", std::to_string(verdict.ledger.attempts));
    if (verdict.ledger.suspect) fields.emplace_back("trial", std::to_string(*verdict.ledger.suspect));
    if (verdict.wait.count() > 0) fields.emplace_back("wait_ms", std::to_string(verdict.wait.count()));
    if (verdict.held_by) fields.emplace_back("held_by", core::to_text(*verdict.held_by));
    if (!place.value.empty()) fields.emplace_back("to", place.value);
    if (judgement != nullptr) {
        fields.emplace_back("outcome", model::to_text(judgement->outcome));
        fields.emplace_back("error_type", model::cut_text(judgement->error_type, longest_logged));
        fields.emplace_back("error_message", model::cut_text(judgement->error_message, longest_logged));
    }
    log(state, LogLevel::info, event, std::move(fields));
}

std::string error_of(const core::Judgement& judgement) {
    if (judgement.error_message.empty()) return judgement.error_type;
    return judgement.error_type + ": " + judgement.error_message.substr(0, Decisions::longest_error);
}

}  // namespace

void tell(State& state, const Held& held, const Verdict& verdict, const core::Judgement* judgement,
          const model::QueueName& place) {
    const auto attempts = verdict.kind == Verdict::Kind::ack ? held.stay.ledger.attempts : verdict.ledger.attempts;
    if (is_silent(verdict, judgement, attempts)) return;
    Decision decision;
    decision.at = state.now.wall;
    decision.queue = held.queue();
    decision.id = held.record.id;
    decision.kind = verdict.kind;
    decision.tier = verdict.tier;
    decision.reason = verdict.reason;
    decision.attempts = attempts;
    decision.wait = verdict.wait;
    decision.held_by = verdict.held_by;
    decision.place = place.value;
    if (judgement != nullptr) {
        decision.outcome = judgement->outcome;
        decision.error = error_of(*judgement);
    }
    state.decisions.add(std::move(decision));
    const bool success = judgement != nullptr && judgement->outcome == Outcome::success;
    if (!success) write_line(state, held, verdict, judgement, place);
}

void sum_up(State& state) {
    const bool ending = state.drain == State::Drain::drained || state.drain == State::Drain::stopped;
    const auto sum = ending ? state.limiter.take_rest() : state.limiter.take_sum(state.now.steady);
    if (!sum) return;
    std::string most;
    for (const auto& [key, count] : sum->most) most += (most.empty() ? "" : ", ") + std::to_string(count) + " x " + key;
    log(state, LogLevel::info, "retries_summed_up",
        {{"lines", std::to_string(sum->lines)}, {"kinds", std::to_string(sum->keys)}, {"most", most}});
}

}  // namespace retryd::engine
