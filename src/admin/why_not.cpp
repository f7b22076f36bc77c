#include "admin/why_not.hpp"

#include "admin/columns.hpp"
#include "admin/wording.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

namespace retryd::admin {
namespace {

namespace json = boost::json;
using model::Outcome;
using model::QueueView;

struct CauseText {
    std::string_view cause;
    std::string_view what;  // before the detail
    std::string_view heals;
};
// By the causes' names, in the order in which they stand in model::Cause; a test holds it complete.
constexpr std::array texts{
    CauseText{"consumer-away", "Nobody takes deliveries:",
              "Start the consumer. retryd looks for it every 5 s at the latest and goes on by itself; no message is charged."},
    CauseText{
        "consumer-misconfigured", "The consumer answers like one that is misconfigured or misaddressed:",
        "Look at the address and path of deliver.http, and at what the consumer asks of its callers. Every 5 s at the latest "
        "one message is tried; none is charged."},
    CauseText{"consumer-not-ready", "The consumer is there, but says that it is not ready:",
              "Deliveries begin when the page of deliver.ready answers 2xx."},
    CauseText{"broker-down", "There is no connection to the broker:",
              "Look at the broker, its address and the login. retryd tries again by itself, every 30 s at the latest."},
    CauseText{"publish-blocked", "The broker takes no publishes, so failed messages stay in hand:",
              "It ends with the broker's alarm: look at its memory and its disk."},
    CauseText{"draining", "retryd was asked to drain:", "It takes messages again when it has ended and is started again."},
    CauseText{"unroutable", "Copies of failed messages find no place, so their originals stay in hand:",
              "Their queue is missing, full or refuses them: declare it, look at its limits and policies, or give retryd the "
              "right to. It tries again by itself."},
    CauseText{"queue-missing", "The broker does not have the queue",
              "Declare it, or say `declare: quorum` in the policy. retryd looks again every 5 s at the latest."},
    CauseText{"memory", "The limit on what is in hand is reached, so nothing more is read from the broker:",
              "It ends when deliveries finish and a tenth is free again. For more at once, raise `memory` in the policy."},
    CauseText{"subscription-lost", "The broker took the subscription away, or serves it no more:",
              "retryd subscribes again by itself. Look at the queue and the broker's log if it lasts."},
    CauseText{"ack-timeout", "The broker closed the channel because a message was unacked for too long:",
              "retryd subscribes again by itself. Keep deliver.timeout well below the broker's consumer_timeout."},
    CauseText{"broker-dead-letter-wait", "Some of what waits for a later try comes back late, or not at all:",
              "Where the lane was away it ends by itself, within three minutes of its return. A delay queue that somebody "
              "declared with other arguments, or that a policy reaches, has to be put right."},
    CauseText{"confirm-late", "The broker does not confirm the copies of failed messages:",
              "retryd renews the connection and publishes them again. Look at the broker's load if it comes back."},
    CauseText{"link-stuck", "A connection to the broker does nothing any more:",
              "retryd ends it and connects again by itself. Look at the broker, the network between, and the resolver."},
    CauseText{"paused", "An operator has paused it:", "retryctl resume QUEUE lets it go on."},
    CauseText{"breaker-open", "Calls failed too often, or an operator said so, and there are none for a while:",
              "Mend what fails. retryd tries a few messages by itself when the time is over, and goes on when they succeed; "
              "nothing is charged. An operator's order ends by `retryctl breaker reset NAME`."},
    CauseText{"budget-spent", "More messages would be given up than the budget allows, so they wait:",
              "Look at why they fail: that so many do is rarely the messages' fault. Successes earn the budget anew."},
    CauseText{
        "storm-damped", "Retries are held back, so that they do not feed on themselves:",
        "It ends by itself, a minute after far fewer calls fail and the retries grow no more; where an operator throttles, by "
        "`retryctl resume QUEUE`."},
    CauseText{
        "rate", "Deliveries are as many as the policy allows:",
        "Raise deliver.rate in the policy, or leave it. After an outage it ends by itself when nobody waits any more, or by "
        "`retryctl breaker reset NAME`."}};
constexpr std::string_view healing_unknown = "retryd goes on by itself when it has ended.";

const CauseText* text_of(std::string_view cause) {
    const auto* const found = std::find_if(texts.begin(), texts.end(), [&](const auto& one) { return one.cause == cause; });
    return found == texts.end() ? nullptr : found;
}

// As the end of a sentence, whatever it ends with itself.
std::string closed(std::string text) {
    while (text.ends_with('.') || text.ends_with(' ') || text.ends_with(':')) text.pop_back();
    return text + ".";
}

Hindrance hindrance(const model::StallView& stall) {
    const auto cause = model::to_text(stall.cause);
    const auto* const text = text_of(cause);
    std::string what = text == nullptr ? std::string(cause) + ":" : std::string(text->what);
    if (!stall.detail.empty()) what += " " + stall.detail;
    return {std::string(cause), true, stall.lasting, closed(clean(what)), std::string(healing(stall.cause))};
}

std::uint64_t sum(const QueueView& queue, std::initializer_list<Outcome> outcomes) {
    return std::accumulate(outcomes.begin(), outcomes.end(), std::uint64_t{0}, [&](std::uint64_t so_far, Outcome one) {
        return so_far + queue.deliveries[static_cast<std::size_t>(one)];
    });
}

std::uint64_t all_deliveries(const QueueView& queue) {
    return std::accumulate(queue.deliveries.begin(), queue.deliveries.end(), std::uint64_t{0});
}

std::string average(const QueueView& queue) {
    const auto count = all_deliveries(queue);
    if (count == 0) return "";
    const model::Milliseconds mean{std::llround(queue.delivery_seconds * 1000 / static_cast<double>(count))};
    return mean.count() == 0 ? "under 1 ms" : exact_span_text(mean);
}

// In hand and ready to be delivered.
std::uint32_t ready(const QueueView& queue) {
    const auto busy = queue.in_flight + queue.waiting_quick + queue.being_copied;
    return queue.in_hand - std::min(queue.in_hand, busy);
}

std::uint64_t depth(const QueueView& queue, std::string_view kind) {
    return std::accumulate(
        queue.depths.begin(), queue.depths.end(), std::uint64_t{0},
        [&](std::uint64_t so_far, const auto& one) { return so_far + (one.kind == kind ? one.messages : 0); });
}

std::string number_of(std::uint64_t count, std::string_view one, std::string_view many) {
    return std::to_string(count) + " " + std::string(count == 1 ? one : many);
}

// What slows a queue that flows.
void add_brakes(const QueueView& queue, std::vector<Hindrance>& out) {
    if (queue.held_back)
        out.push_back({"copies", false, std::nullopt,
                       "Copies of failed messages fill half of what may be in hand, so nothing new is taken.",
                       "It ends when the broker confirms them; look at its load and its alarms."});
    if (queue.suspects > 0)
        out.push_back({"suspects", false, std::nullopt,
                       number_of(queue.suspects, "message", "messages") +
                           " in hand may have taken the consumer or retryd down, and " + (queue.suspects == 1 ? "is" : "are") +
                           " delivered apart from the others, in turns with them.",
                       "It ends when each has been answered, or is parked as poison after limits.solo_tries without a reply."});
    if (ready(queue) == 0) return;
    const std::string waiting = number_of(ready(queue), "message waits", "messages wait") + " in hand";
    if (queue.credit && *queue.credit == 0 && queue.in_flight < queue.concurrency) {
        out.push_back({"credit", false, std::nullopt, waiting + ", but no session of the consumer has credit left.",
                       "Sessions give credit when they want more; start further ones, or let them give more."});
    } else if (queue.in_flight >= queue.slots && queue.slots < queue.concurrency) {
        out.push_back({"slow-start", false, std::nullopt,
                       waiting + ", and " + std::to_string(queue.slots) + " of " + std::to_string(queue.concurrency) +
                           " slots are open: the consumer has just come and is loaded step by step.",
                       "The slots double with each round that succeeds, and all are open after deliver.slow_start."});
    } else if (queue.in_flight >= queue.slots) {
        out.push_back({"busy", false, std::nullopt,
                       waiting + " for one of the " + std::to_string(queue.concurrency) +
                           " slots, all of which are in use; a delivery takes " + average(queue) + " on average.",
                       "A faster consumer, or more at once: deliver.concurrency."});
    }
}

std::string figures(const QueueView& queue) {
    std::string text = std::to_string(queue.in_flight) + " of " + std::to_string(queue.concurrency) + " slots in use";
    text += ", " + number_of(ready(queue), "message ready", "messages ready") + " in hand";
    if (!queue.depths.empty()) {
        text += ", " + std::to_string(depth(queue, "work")) + " in the work queue";
        text += ", " + std::to_string(depth(queue, "lane")) + " in the return lane";
        text += ", " + std::to_string(depth(queue, "delay") + depth(queue, "hold")) + " waiting for a later try";
        text += ", " + std::to_string(depth(queue, "parked")) + " parked";
        text += " and " + number_of(depth(queue, "dlq"), "dead letter", "dead letters");
    }
    text += ". ";
    const auto count = all_deliveries(queue);
    if (count == 0) return text + "Nothing has been delivered yet.";
    const auto good = sum(queue, {Outcome::success, Outcome::drop});
    return text + number_of(count, "delivery", "deliveries") + " since the start, " + std::to_string(good * 100 / count) +
           " % of them succeeded, " + average(queue) + " each on average.";
}

std::string verdict(const QueueView& queue, const std::vector<Hindrance>& hindrances) {
    if (std::any_of(hindrances.begin(), hindrances.end(), [](const Hindrance& one) { return one.stops; }))
        return " does not flow.";
    if (!hindrances.empty()) return " flows, but slower than it could.";
    const bool idle = queue.in_flight == 0 && queue.in_hand == 0;
    return idle ? " flows; nothing is there to be delivered." : " flows.";
}

}  // namespace

std::string_view healing(model::Cause cause) {
    const auto* const text = text_of(model::to_text(cause));
    return text == nullptr ? healing_unknown : text->heals;
}

WhyNot why_not(const QueueView& queue, model::WallTime at) {
    WhyNot answer{queue.name, at, {}, {}, {}};
    for (const auto& stall : queue.stalls) answer.hindrances.push_back(hindrance(stall));
    if (queue.stalls.empty()) add_brakes(queue, answer.hindrances);
    answer.summary = clean(queue.name.value) + verdict(queue, answer.hindrances);
    answer.figures = figures(queue);
    return answer;
}

std::string to_text(const WhyNot& answer) {
    std::string text = paragraph(answer.summary, 0, 0);
    for (const auto& one : answer.hindrances) {
        std::string heading = "\n" + one.cause;
        if (one.lasting) heading += ", since " + time_text(answer.at - *one.lasting) + " (" + span_text(*one.lasting) + ")";
        text += heading + "\n" + paragraph(one.what, 2, 2) + paragraph("What heals it: " + one.heals, 2, 2);
    }
    return text + "\n" + paragraph(answer.figures, 0, 0);
}

std::string to_json(const WhyNot& answer) {
    json::array causes;
    bool flows = true;
    for (const auto& one : answer.hindrances) {
        flows = flows && !one.stops;
        json::object cause{{"cause", one.cause}, {"stops", one.stops}};
        if (one.lasting) {
            cause.emplace("since_ms", (answer.at - *one.lasting).time_since_epoch().count());
            cause.emplace("lasting_ms", one.lasting->count());
        }
        cause.emplace("what", one.what);
        cause.emplace("heals", one.heals);
        causes.push_back(std::move(cause));
    }
    return json::serialize(json::object{{"queue", clean(answer.queue.value)},
                                        {"at_ms", answer.at.time_since_epoch().count()},
                                        {"flows", flows},
                                        {"summary", answer.summary},
                                        {"figures", answer.figures},
                                        {"causes", std::move(causes)},
                                        {"text", to_text(answer)}});
}

}  // namespace retryd::admin
