#include "engine/topology.hpp"

#include "engine/arrivals.hpp"
#include "engine/gate.hpp"
#include "engine/serving.hpp"
#include "engine/watchdog.hpp"

#include <algorithm>
#include <limits>

namespace retryd::engine {

using core::Intake;
using model::Side;
using Purpose = Question::Purpose;
using Watch = core::ConsumerWatch::State;

namespace {

constexpr model::Milliseconds depth_interval{15000};
constexpr std::uint16_t precondition_failed = 406;  // it exists, with other arguments: used as it is

model::QueueName source_name(const QueueState& queue, Side side) {
    return side == Side::work ? queue.policy.name : queue.policy.lane;
}

model::QueueSpec source_spec(const QueueState& queue, Side side) {
    const auto type =
        side == Side::work ? queue.policy.declare.value_or(model::QueueType::quorum) : queue.policy.retry.queue_type;
    return model::plain_queue(source_name(queue, side), type);
}

ports::Link link_for(Purpose purpose) {
    switch (purpose) {
        case Purpose::source:
        case Purpose::subscription:
        case Purpose::depth: return ports::Link::consume;
        case Purpose::lot:
        case Purpose::target: break;
    }
    return ports::Link::publish;
}

bool is_part_of_the_start(Purpose purpose) {
    return purpose != Purpose::depth && purpose != Purpose::subscription;
}

void declare(State& state, const Question& question) {
    const auto link = link_for(question.purpose);
    (link == ports::Link::consume ? state.to_consume : state.to_publish).add(ports::Declare{question.spec});
    state.questions_on(link).push_back(question);
}

std::string trouble_text(std::uint16_t code, const std::string& why) {
    return why.empty() ? "reply code " + std::to_string(code) : why;
}

// Failing messages that can't leave the hand must not fill it: at half the prefetch the intake pauses, at a quarter it
// goes on.
bool held_back(State& state, QueueState& queue) {
    const bool stuck = state.copies.is_blocked() || !state.link(ports::Link::publish).reconnect.is_up();
    const auto limit = queue.held_back ? queue.policy.prefetch / 4 : queue.policy.prefetch / 2;
    queue.held_back = stuck && queue.copying > limit;
    return queue.held_back;
}

// While accused messages wait in hand, the copies for their trials come by the lane, behind others: its prefetch grows by what
// they take, in steps, so that no trial waits for the next, and is as usual again when none of them is left.
std::uint32_t lane_prefetch(QueueState& queue) {
    const auto usual = queue.policy.prefetch;
    const auto steps = (static_cast<std::uint32_t>(queue.accused.size()) + usual - 1) / usual;
    const bool over = queue.accused.empty() && !queue.floor.awaits_trial() && !queue.trial_runs;
    queue.lane_steps = over ? 0 : std::max(queue.lane_steps, steps);
    return std::min<std::uint32_t>(usual * (1 + queue.lane_steps), std::numeric_limits<std::uint16_t>::max());
}

// A pause keeps what is in hand; probes are taken from the hand, and fetched where it is empty.
std::uint32_t wanted_by_guards(State& state, QueueState& queue, std::uint32_t usual) {
    if (is_shut(state, queue)) return 0;
    const auto probes = probes_wanted(state, queue);
    if (!probes) return usual;
    return has_ready(state, queue) || !queue.waiting.empty() ? 0 : *probes;
}

// How many messages are wanted in hand from each source.
std::uint32_t wanted(State& state, QueueState& queue, Side side) {
    if (state.drain != State::Drain::no || held_back(state, queue)) return 0;
    switch (queue.watch.state()) {
        case Watch::away:
        case Watch::not_ready:
        case Watch::misconfigured: return 0;
        case Watch::trying:
            // The copy that the try is to be made with may lie behind others.
            if (side == Side::lane && queue.floor.awaits_trial()) return lane_prefetch(queue);
            return queue.in_hand == 0 ? 1 : 0;
        case Watch::present:
            return wanted_by_guards(state, queue, side == Side::lane ? lane_prefetch(queue) : queue.policy.prefetch);
    }
    return 0;
}

void take_step(State& state, QueueState& queue, Side side, Intake::Step step, std::uint32_t prefetch) {
    const model::Source source{queue.id, side};
    switch (step) {
        case Intake::Step::look_up: ask(state, {Purpose::source, source, source_spec(queue, side)}); break;
        case Intake::Step::declare: declare(state, {Purpose::source, source, source_spec(queue, side)}); break;
        case Intake::Step::subscribe:
            state.to_consume.add(ports::Subscribe{source, source_name(queue, side), static_cast<std::uint16_t>(prefetch)});
            break;
        case Intake::Step::unsubscribe: state.to_consume.add(ports::Unsubscribe{source}); break;
    }
}

void source_answered(State& state, const Question& question, bool there, bool declaring, const std::string& why) {
    auto& queue = state.queue(question.source.queue);
    const auto side = at(question.source.side);
    auto& intake = queue.intake[side];
    const bool was_missing = intake.is_missing();
    if (declaring) {
        intake.declared(there, state.now.steady, state.chance());
    } else {
        intake.looked_up(there, state.now.steady, state.chance());
    }
    queue.intake_trouble[side] = there ? "" : why;
    state.touch(queue);
    if (intake.is_missing() && !was_missing && !intake.may_declare())
        log(state, model::LogLevel::warn, "queue_missing", {{"queue", question.spec.name.value}, {"why", why}});
    if (there && question.source.side == Side::lane) {
        if (was_missing) {
            queue.lane_back = state.now.steady;
            queue.lane_was_there = queue.lane_seen;
        }
        queue.lane_seen = true;
    }
    if (there && was_missing) {
        log(state, model::LogLevel::info, declaring ? "queue_declared" : "queue_found", {{"queue", question.spec.name.value}});
    }
}

Question take_question(State& state, ports::Link link) {
    auto& questions = state.questions_on(link);
    auto question = questions.front();
    questions.pop_front();
    ++state.link(link).answers;
    return question;
}

}  // namespace

void ask(State& state, Question question) {
    const auto link = link_for(question.purpose);
    question.asked = state.now.steady;
    (link == ports::Link::consume ? state.to_consume : state.to_publish).add(ports::LookUp{question.spec.name});
    state.questions_on(link).push_back(std::move(question));
}

void looked_up(State& state, const ports::LookedUp& answer) {
    const auto question = take_question(state, answer.link);
    if (answer.found) {
        state.depths[answer.queue] = answer.messages;
    } else {
        state.depths.erase(answer.queue);
    }
    switch (question.purpose) {
        case Purpose::depth: return watch_tiers(state, question.source.queue, answer.queue);
        case Purpose::subscription: return watch_subscription(state, question, answer);
        case Purpose::source:
            source_answered(state, question, answer.found, false, trouble_text(answer.code, answer.why));
            return;
        case Purpose::lot:
        case Purpose::target: break;
    }
    if (question.purpose == Purpose::lot) {
        auto& queue = state.queue(question.source.queue);
        const bool own =
            answer.queue == queue.policy.parked || answer.queue == queue.policy.dlq;  // another was there before us
        if (own) queue.lots_found = queue.lots_found.value_or(answer.found);
    }
    if (!answer.found) return declare(state, question);
    state.copies.declared(answer.queue, true, state.now.steady);
}

void declared(State& state, const ports::Declared& answer) {
    const auto question = take_question(state, answer.link);
    const bool there = answer.declared || answer.code == precondition_failed;
    const auto& queue = answer.queue.value;
    // It is asked for again for each copy that waits for it.
    if (!there && state.limiter.admit("declare_failed", queue, state.now.steady)) {
        log(state, model::LogLevel::error, "declare_failed",
            {{"queue", queue}, {"why", trouble_text(answer.code, answer.why)}});
    }
    if (question.purpose == Purpose::source) {
        source_answered(state, question, there, true, trouble_text(answer.code, answer.why));
    } else {
        state.copies.declared(answer.queue, there, state.now.steady);
    }
}

void ensure_lots(State& state) {
    for (const auto& queue : state.queues) {
        for (const auto& lot : model::lots_of(queue.policy))
            ask(state, {Purpose::lot, {queue.id, Side::work}, model::plain_queue(lot, queue.policy.retry.queue_type)});
    }
}

void advance_sources(State& state, QueueState& queue) {
    if (!state.link(ports::Link::consume).reconnect.is_up()) return;
    for (const auto side : {Side::lane, Side::work}) {
        auto& intake = queue.intake[at(side)];
        // The lane first: what is copied for it and expires before it is there stays in the broker for minutes.
        const bool too_early = side == Side::work && !intake.is_subscribed() && !queue.intake[at(Side::lane)].is_there();
        const auto prefetch = too_early ? 0 : wanted(state, queue, side);
        if (const auto step = intake.next_step(prefetch, state.now.steady)) take_step(state, queue, side, *step, prefetch);
    }
}

void mind_readiness(State& state) {
    if (state.ready) return;
    const bool links = std::all_of(state.links.begin(), state.links.end(), [](const LinkState& link) { return link.ever_up; });
    const bool sources = std::all_of(state.queues.begin(), state.queues.end(), [](const QueueState& queue) {
        return queue.intake[at(Side::work)].is_known() && queue.intake[at(Side::lane)].is_known();
    });
    const bool answered = std::all_of(state.questions.begin(), state.questions.end(), [](const auto& questions) {
        return std::all_of(questions.begin(), questions.end(),
                           [](const Question& question) { return !is_part_of_the_start(question.purpose); });
    });
    state.ready = links && sources && answered;
}

void subscribed(State& state, model::Source source) {
    auto& queue = state.queue(source.queue);
    ++state.link(ports::Link::consume).answers;
    queue.intake[at(source.side)].subscribed(state.now.steady);
    queue.subscription[at(source.side)].renewed();
    queue.intake_trouble[at(source.side)].clear();
    state.touch(queue);
}

void unsubscribed(State& state, model::Source source) {
    auto& queue = state.queue(source.queue);
    ++state.link(ports::Link::consume).answers;
    queue.intake[at(source.side)].unsubscribed();
    state.touch(queue);
}

void subscription_lost(State& state, model::Source source) {
    auto& queue = state.queue(source.queue);
    queue.intake[at(source.side)].cancelled(state.now.steady);
    queue.subscription[at(source.side)].ended();
    queue.ack_timeout[at(source.side)] = false;
    log(state, model::LogLevel::warn, "subscription_lost", {{"queue", source_name(queue, source.side).value}});
    state.touch(queue);
}

void source_closed(State& state, const ports::SourceClosed& closed) {
    auto& queue = state.queue(closed.source.queue);
    const auto side = at(closed.source.side);
    ++state.link(ports::Link::consume).answers;
    queue.intake[side].closed(state.now.steady, state.chance());
    queue.subscription[side].ended();
    queue.intake_trouble[side] = trouble_text(closed.code, closed.why);
    queue.ack_timeout[side] = closed.why.find("timeout") != std::string::npos;
    orphan(state, closed.source);
    log(state, model::LogLevel::warn, "channel_closed",
        {{"queue", source_name(queue, closed.source.side).value}, {"why", queue.intake_trouble[side]}});
    state.touch(queue);
}

void ask_for_depths(State& state) {
    if (state.now.steady < state.next_depths) return;
    state.next_depths = state.now.steady + depth_interval;
    const auto& open = state.questions_on(ports::Link::consume);
    const auto about_depth = [](const Question& question) { return question.purpose == Purpose::depth; };
    if (std::any_of(open.begin(), open.end(), about_depth)) return;  // with the memory full answers stay unread: once is enough
    look_for_storms(state);
    for (const auto& queue : state.queues) {
        ask_about_subscriptions(state, queue);
        std::vector<model::QueueName> names{queue.policy.parked, queue.policy.dlq};
        for (const auto& [name, tier] : queue.tiers) names.push_back(name);
        for (const auto& name : names)
            ask(state, {Purpose::depth, {queue.id, Side::work}, model::plain_queue(name, model::QueueType::quorum)});
    }
}

}  // namespace retryd::engine
