#include "core/classify.hpp"

#include "core/matching.hpp"

#include <algorithm>

namespace retryd::core {

using model::Outcome;
using model::Reply;

namespace {

bool reply_matches(const model::ClassifyRule& rule, const Reply& reply) {
    const bool status =
        rule.status.empty() || std::any_of(rule.status.begin(), rule.status.end(), [&](const model::StatusRange& range) {
            return reply.status >= range.first && reply.status <= range.last;
        });
    return status && any_matches(rule.error_type, reply.error_type) && any_matches(rule.error_message, reply.error_message) &&
           any_matches(rule.dependency, reply.dependency);
}

std::optional<model::Milliseconds> span_of(const Reply& reply, model::WallTime now) {
    if (!reply.retry_after) return std::nullopt;
    if (reply.retry_after->span) return std::max(*reply.retry_after->span, model::Milliseconds{0});
    if (reply.retry_after->until) return std::max(*reply.retry_after->until - now, model::Milliseconds{0});
    return std::nullopt;
}

std::string type_of(const Reply& reply, Outcome outcome) {
    if (!reply.error_type.empty()) return reply.error_type;
    if (reply.status != 0) return "http." + std::to_string(reply.status);
    return "retryd." + std::string(model::to_text(outcome));
}

Outcome unruled(const Reply& reply, bool proven) {
    switch (reply.kind) {
        case Reply::Kind::lost: return Outcome::lost;
        case Reply::Kind::unavailable: return Outcome::unavailable;
        case Reply::Kind::answered: break;
    }
    if (reply.misstated) return Outcome::transient;
    if (reply.stated) return *reply.stated;
    return default_outcome(reply.status, reply.retry_after.has_value(), proven);
}

}  // namespace

std::uint64_t rules_matching(const model::QueuePolicy& policy, const model::Properties& shown, std::string_view routing_key) {
    if (policy.classify.empty()) return 0;
    const auto headers = headers_of(shown);
    std::uint64_t mask = 0;
    for (std::size_t i = 0; i < policy.classify.size() && i < model::max_classify_rules; ++i)
        if (matches(policy.classify[i], shown, headers, routing_key)) mask |= std::uint64_t{1} << i;
    return mask;
}

Outcome default_outcome(std::uint16_t status, bool retry_after, bool proven) {
    if (status >= 200 && status < 300) return Outcome::success;
    if (status >= 300 && status < 400) return Outcome::endpoint;
    switch (status) {
        case 401:
        case 403:
        case 405:
        case 407: return Outcome::endpoint;
        case 404: return proven ? Outcome::permanent : Outcome::endpoint;
        case 408:
        case 409:
        case 425: return Outcome::transient;
        case 429: return Outcome::throttled;
        case 503: return retry_after ? Outcome::throttled : Outcome::transient;
        default: return status >= 400 && status < 500 ? Outcome::permanent : Outcome::transient;
    }
}

Judgement classify(const model::QueuePolicy& policy, std::uint64_t rules, const Reply& reply, bool proven,
                   model::WallTime now) {
    Judgement judgement;
    judgement.outcome = unruled(reply, proven);
    judgement.retry_after = span_of(reply, now);
    judgement.error_type = reply.misstated ? "retryd.BadReply" : type_of(reply, judgement.outcome);
    judgement.error_message = reply.error_message;
    judgement.dependency = reply.dependency;
    judgement.app_version = reply.app_version;
    if (reply.kind != Reply::Kind::answered) return judgement;
    for (std::size_t i = 0; i < policy.classify.size(); ++i) {
        const auto& rule = policy.classify[i];
        if ((rules >> i & 1U) == 0 || !reply_matches(rule, reply)) continue;
        judgement.outcome = rule.as;
        judgement.delay = rule.delay;
        break;
    }
    return judgement;
}

}  // namespace retryd::core
