#include "admin/why.hpp"

#include "admin/columns.hpp"
#include "admin/wording.hpp"

#include <boost/json.hpp>

#include <string_view>

namespace retryd::admin {
namespace {

namespace json = boost::json;
using model::DecisionView;
using model::InHandView;
using Kind = DecisionView::Kind;

constexpr std::size_t decisions_told = 20;
constexpr std::size_t lots_told = 8;

std::string attempt_of(const InHandView& held) {
    return "attempt " + std::to_string(held.attempt) + " of " + std::to_string(held.max_attempts);
}

std::string sentence(const InHandView& held) {
    const std::string queue = clean(held.queue.value);
    const std::string lasting = span_text(held.lasting);
    std::string text = "It is in hand, from the queue " + queue + ": ";
    switch (held.state) {
        case InHandView::State::ready:
            return text + "ready for " + attempt_of(held) + ", and has waited " + lasting + " for " +
                   (held.suspect ? "its turn apart from others: it is suspected of taking its consumer down."
                                 : "a free slot.") +
                   " `retryctl why-not " + queue + "` says what holds the queue up.";
        case InHandView::State::waiting:
            if (!held.left) return text + "unreadable, so it can be neither delivered nor copied; the log says why.";
            return text + "it waits for " + attempt_of(held) + ", which comes in " + span_text(*held.left) + ".";
        case InHandView::State::at_consumer:
            return text + "it has been at the consumer for " + lasting + " (" + attempt_of(held) + "). retryd waits " +
                   span_text(held.left.value_or(model::Milliseconds{0})) + " more for the reply.";
        case InHandView::State::copying:
            return text + "its copy is on its way to " + clean(held.place.value) + " since " + lasting +
                   ", and acked only when the broker confirms that.";
    }
    return text;
}

std::string holder(std::string_view guard) {
    if (guard == "breaker") return " by an open breaker";
    if (guard == "probe") return " because it was a breaker's probe and failed";
    if (guard == "park-budget") return " because the budget for parking is spent";
    if (guard == "dead-letter-budget") return " because the budget for dead letters is spent";
    return "";
}

// What was done, as the rest of a sentence.
std::string deed(const DecisionView& decision) {
    const std::string place = clean(decision.place.value);
    switch (decision.kind) {
        case Kind::done:
            return decision.outcome == model::Outcome::drop ? "dropped, as the consumer wished" : "done, and acked";
        case Kind::quick_retry: return "tried again after " + exact_span_text(decision.wait) + " in hand";
        case Kind::retry: return "sent to wait " + exact_span_text(decision.wait) + " in " + place;
        case Kind::hold:
            return "held" + holder(decision.held_by) + ", without an attempt, for " + exact_span_text(decision.wait) + " in " +
                   place;
        case Kind::lane:
            return "sent to " + place + " to be tried at once: the connection broke while others were at the consumer";
        case Kind::trial: return "sent to " + place + " to be delivered alone, as a suspect of taking its consumer down";
        case Kind::lot: break;
    }
    const std::string reason = decision.reason ? std::string(model::to_text(*decision.reason)) : "parked";
    return "put into " + place + ", reason " + reason;
}

std::string sentence(const DecisionView& decision) {
    std::string text = time_text(decision.at) + "  ";
    if (decision.outcome && decision.kind != Kind::done) {
        text.append(model::to_text(*decision.outcome));
        if (!decision.error.empty()) text += " (" + clean(decision.error) + ")";
        text += ": ";
    }
    text += deed(decision);
    if (decision.attempts > 0)
        text += "; " + std::to_string(decision.attempts) +
                (decision.attempts == 1 ? " attempt had failed" : " attempts had failed");
    return text + ".";
}

// Where it is now, going by the last decision; it is not in hand.
std::string whereabouts(const DecisionView& last, model::WallTime now) {
    const std::string place = clean(last.place.value);
    const auto due = last.at + last.wait;
    const auto lane = "it comes back through the return lane of " + clean(last.queue.value);
    switch (last.kind) {
        case Kind::done: return "It is done: nothing of it is left on the broker.";
        case Kind::quick_retry: break;
        case Kind::retry:
        case Kind::hold:
            if (due > now)
                return "It waits in " + place + " until " + time_text(due) + " (" + span_text(due - now) + " more); then " +
                       lane + ".";
            return "Its wait in " + place + " ended at " + time_text(due) + ", and " + lane +
                   ": it lies there now, or another retryd has taken it, or it was done since.";
        case Kind::lane:
        case Kind::trial: return "It lies in " + place + ", or another retryd has taken it.";
        case Kind::lot:
            return "It lies in " + place +
                   " until somebody takes it out. To look at it, with the broker's own tools: rabbitmqadmin get queue=" +
                   place + " count=100";
    }
    return "It went back to the broker, or was done at its next attempt by another retryd.";
}

std::string times(std::size_t count) {
    return count == 1 ? "decision" : std::to_string(count) + " decisions";
}

std::vector<std::string> unknown(const model::WhyView& view) {
    std::vector<std::string> out;
    out.push_back("retryd knows nothing of " + clean(view.id) + ": it is not in hand, and " +
                  (view.oldest ? "not among the last " + times(view.remembered) + ", since " + time_text(*view.oldest) + "."
                               : "no decision has been made yet."));
    out.push_back(
        "So it waits in its work queue or in a delay queue, or lies in a lot, or is done (what succeeds at the first attempt "
        "leaves no trace here). RabbitMQ can't be asked for one message.");
    std::string look = "To look through a lot, with the broker's own tools: rabbitmqadmin get count=100 queue=LOT. The lots:";
    for (std::size_t i = 0; i < view.lots.size() && i < lots_told; ++i)
        look += (i == 0 ? " " : ", ") + clean(view.lots[i].value);
    out.push_back(look + (view.lots.size() > lots_told ? " and more." : "."));
    return out;
}

std::string_view name_of(InHandView::State state) {
    switch (state) {
        case InHandView::State::ready: return "ready";
        case InHandView::State::waiting: return "waiting";
        case InHandView::State::at_consumer: return "at-consumer";
        case InHandView::State::copying: return "copying";
    }
    return "";
}

std::string_view name_of(Kind kind) {
    switch (kind) {
        case Kind::done: return "done";
        case Kind::quick_retry: return "quick-retry";
        case Kind::retry: return "retry";
        case Kind::hold: return "hold";
        case Kind::lane: return "lane";
        case Kind::trial: return "trial";
        case Kind::lot: return "lot";
    }
    return "";
}

json::value written(const InHandView& held) {
    json::object out{{"queue", clean(held.queue.value)}, {"state", json::string{name_of(held.state)}},
                     {"attempt", held.attempt},          {"max_attempts", held.max_attempts},
                     {"suspect", held.suspect},          {"lasting_ms", held.lasting.count()}};
    if (held.left) out.emplace("left_ms", held.left->count());
    if (!held.place.value.empty()) out.emplace("place", clean(held.place.value));
    return out;
}

json::value written(const DecisionView& one) {
    json::object out{{"at_ms", one.at.time_since_epoch().count()},
                     {"queue", clean(one.queue.value)},
                     {"kind", json::string{name_of(one.kind)}},
                     {"attempts", one.attempts}};
    if (one.outcome) out.emplace("outcome", json::string{model::to_text(*one.outcome)});
    if (one.reason) out.emplace("reason", json::string{model::to_text(*one.reason)});
    if (one.wait.count() > 0) out.emplace("wait_ms", one.wait.count());
    if (!one.held_by.empty()) out.emplace("held_by", one.held_by);
    if (!one.place.value.empty()) out.emplace("place", clean(one.place.value));
    if (!one.error.empty()) out.emplace("error", clean(one.error));
    return out;
}

}  // namespace

std::vector<std::string> sentences(const model::WhyView& view) {
    if (view.in_hand.empty() && view.decisions.empty()) return unknown(view);
    std::vector<std::string> out;
    for (const auto& held : view.in_hand) out.push_back(sentence(held));
    if (view.left_out > 0)
        out.push_back("Many messages have this id: " + std::to_string(view.left_out) + " older entries are left out.");
    if (view.in_hand.empty()) out.push_back(whereabouts(view.decisions.front(), view.at));
    for (std::size_t i = 0; i < view.decisions.size() && i < decisions_told; ++i) out.push_back(sentence(view.decisions[i]));
    return out;
}

std::string to_text(const model::WhyView& view) {
    const auto all = sentences(view);
    const std::size_t first_decision = all.size() - std::min(view.decisions.size(), decisions_told);
    std::string text;
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (i == first_decision && !view.decisions.empty()) text += "\n";
        text += i < first_decision ? paragraph(all[i], 0, 0) : paragraph(all[i], 2, 4);
    }
    return text;
}

std::string to_json(const model::WhyView& view) {
    json::array in_hand;
    for (const auto& held : view.in_hand) in_hand.push_back(written(held));
    json::array decisions;
    for (const auto& one : view.decisions) decisions.push_back(written(one));
    json::object out{{"id", clean(view.id)},
                     {"at_ms", view.at.time_since_epoch().count()},
                     {"in_hand", std::move(in_hand)},
                     {"decisions", std::move(decisions)},
                     {"text", to_text(view)}};
    if (view.left_out > 0) out.emplace("left_out", view.left_out);
    return json::serialize(out);
}

}  // namespace retryd::admin
