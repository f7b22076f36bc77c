#include "policyfile/advice.hpp"

#include "model/tiers.hpp"
#include "policyfile/scalars.hpp"

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

namespace retryd::policyfile {

using namespace std::chrono_literals;
using model::Milliseconds;
using model::Policy;
using model::QueuePolicy;

namespace {

constexpr Milliseconds short_outage = 5min;
constexpr Milliseconds long_wait = std::chrono::hours{24 * 7};
constexpr Milliseconds usual_grace = 30s;  // between SIGTERM and SIGKILL
constexpr std::size_t many_retries = 10;
constexpr std::size_t many_queues = 500;
constexpr Milliseconds::rep many_hops = 20;  // the built-in ladder makes five of six hours

std::string names_of(const std::vector<std::string>& names) {
    static constexpr std::size_t shown = 5;
    std::string out;
    for (std::size_t i = 0; i < std::min(names.size(), shown); ++i) out += (i == 0 ? "" : ", ") + names[i];
    return names.size() <= shown ? out : out + " and " + std::to_string(names.size() - shown) + " more";
}

// One line for all queues that get the same sentence.
std::vector<std::string> folded(const Policy& policy,
                                const std::function<std::optional<std::string>(const QueuePolicy&)>& sentence) {
    std::vector<std::pair<std::string, std::vector<std::string>>> lines;
    for (const QueuePolicy& queue : policy.queues) {
        const std::optional<std::string> said = sentence(queue);
        if (!said) continue;
        auto line = std::find_if(lines.begin(), lines.end(), [&](const auto& known) { return known.first == *said; });
        if (line == lines.end()) line = lines.insert(lines.end(), {*said, {}});
        line->second.push_back(queue.name.value);
    }
    std::vector<std::string> out;
    for (const auto& [said, queues] : lines) out.push_back(names_of(queues) + ": " + said);
    return out;
}

std::size_t retries_of(const QueuePolicy& queue) {
    return queue.retry.quick.size() + queue.retry.max;
}

std::string count_of(std::size_t count, const std::string& thing) {
    return std::to_string(count) + " " + thing + (count == 1 ? "" : "s");
}

std::string summary(const QueuePolicy& queue) {
    std::string out = "up to " + count_of(1 + retries_of(queue), "attempt") + " (1 first, " +
                      std::to_string(queue.retry.quick.size()) + " quick, " + std::to_string(queue.retry.max) + " delayed)";
    if (retries_of(queue) > 0) out += ", waiting " + to_text(longest_wait(queue.retry)) + " in all at most";
    return out + "; may make " + count_of(model::queues_made(queue), "queue");
}

std::optional<std::string> short_ladder(const QueuePolicy& queue) {
    const Milliseconds wait = longest_wait(queue.retry);
    if (wait >= short_outage || queue.breaker) return std::nullopt;
    return "retries are over after " + to_text(wait) +
           ", so an outage of 5m parks what meets it; a breaker, longer delays or more of them outlast it";
}

std::optional<std::string> long_ladder(const QueuePolicy& queue) {
    const Milliseconds wait = longest_wait(queue.retry);
    if (wait <= long_wait) return std::nullopt;
    return "a message may wait " + to_text(wait) + " in retries before anybody sees it parked; limits.age sets an end";
}

std::optional<std::string> many_tries(const QueuePolicy& queue) {
    if (retries_of(queue) <= many_retries) return std::nullopt;
    return std::to_string(retries_of(queue)) +
           " retries of each failing message multiply the load on what fails; 10 are plenty";
}

std::optional<std::string> no_jitter(const QueuePolicy& queue) {
    const model::RetryPolicy& retry = queue.retry;
    if (retry.full_jitter || retry.max == 0 || (retry.jitter.value > 0 && retry.spread > 1)) return std::nullopt;
    return std::string(retry.spread == 1 ? "spread is 1" : "jitter is 0%") +
           ", so what failed together comes back together; 20% over 4 queues is usual";
}

std::optional<std::string> short_hold_ladder(const QueuePolicy& queue) {
    const Milliseconds longest = queue.hold.delays.back();
    const auto hops = queue.hold.max_retry_after / longest;
    if (hops <= many_hops) return std::nullopt;
    return "a Retry-After of " + to_text(queue.hold.max_retry_after) + " makes " + std::to_string(hops) +
           " hops through the hold queues, the longest of which is " + to_text(longest) +
           "; a longer last one in hold.delays makes fewer";
}

}  // namespace

Milliseconds longest_wait(const model::RetryPolicy& retry) {
    Milliseconds sum{0};
    for (const Milliseconds wait : retry.quick) sum += wait;
    for (std::size_t i = 0; i < retry.max && !retry.delays.empty(); ++i) {
        sum += model::spread_of(retry.delays[std::min(i, retry.delays.size() - 1)], retry).back();
    }
    return sum;
}

std::vector<std::string> summary_of(const Policy& policy) {
    return folded(policy, summary);
}

std::vector<std::string> dangers_of(const Policy& policy) {
    std::vector<std::string> out;
    for (const auto& sentence : {short_ladder, long_ladder, many_tries, no_jitter, short_hold_ladder}) {
        for (std::string& line : folded(policy, sentence)) out.push_back(std::move(line));
    }
    std::size_t queues = 0;
    Milliseconds timeout{0};
    for (const QueuePolicy& queue : policy.queues) {
        queues += model::queues_made(queue);
        timeout = std::max(timeout, queue.deliver.timeout);
    }
    if (queues > many_queues) {
        out.push_back("the policy may make " + std::to_string(queues) +
                      " queues on the broker; a smaller spread and fewer different delays make fewer");
    }
    if (timeout + 2s > usual_grace) {
        out.push_back("a drain may take " + to_text(timeout + 2s) +
                      " (the longest deliver.timeout and 2s), more than the 30s that a container "
                      "or service usually gets to stop; give it more, or set --drain");
    }
    return out;
}

}  // namespace retryd::policyfile
