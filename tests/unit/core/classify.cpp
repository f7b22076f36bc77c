#include "core/classify.hpp"

#include "model/header_table.hpp"

#include <catch2/catch.hpp>

using namespace retryd;
using model::Outcome;

namespace {

model::Reply answer(std::uint16_t status) {
    model::Reply reply;
    reply.status = status;
    return reply;
}

core::Judgement judge(const model::QueuePolicy& policy, const model::Reply& reply, bool proven = true,
                      std::uint64_t rules = ~0ULL) {
    return core::classify(policy, rules, reply, proven, model::WallTime{std::chrono::hours{1}});
}

std::vector<model::Pattern> patterns(std::string_view text) {
    return {*model::Pattern::parse(text)};
}

}  // namespace

TEST_CASE("each HTTP status has its outcome, and none is taken for success but 2xx") {
    struct Row {
        std::uint16_t status;
        Outcome outcome;
    };
    for (const auto& [status, outcome] : std::vector<Row>{
             {200, Outcome::success},   {201, Outcome::success},   {204, Outcome::success},   {299, Outcome::success},
             {301, Outcome::endpoint},  {304, Outcome::endpoint},  {400, Outcome::permanent}, {401, Outcome::endpoint},
             {403, Outcome::endpoint},  {404, Outcome::permanent}, {405, Outcome::endpoint},  {407, Outcome::endpoint},
             {408, Outcome::transient}, {409, Outcome::transient}, {413, Outcome::permanent}, {422, Outcome::permanent},
             {425, Outcome::transient}, {429, Outcome::throttled}, {431, Outcome::permanent}, {500, Outcome::transient},
             {503, Outcome::transient}, {599, Outcome::transient}, {600, Outcome::transient}, {999, Outcome::transient},
             {0, Outcome::transient},   {199, Outcome::transient}}) {
        CAPTURE(status);
        CHECK(core::default_outcome(status, false, true) == outcome);
    }
}

TEST_CASE("a 404 from a consumer that has never answered 2xx speaks of a wrong path") {
    CHECK(core::default_outcome(404, false, false) == Outcome::endpoint);
    CHECK(core::default_outcome(410, false, false) == Outcome::permanent);
}

TEST_CASE("a 503 with a Retry-After is throttled") {
    CHECK(core::default_outcome(503, true, true) == Outcome::throttled);
}

TEST_CASE("a Retry-After is a span from now, whichever way it was said") {
    const model::QueuePolicy policy;
    auto reply = answer(503);
    reply.retry_after = model::RetryAfter{std::chrono::seconds{5}, std::nullopt};
    CHECK(judge(policy, reply).retry_after == model::Milliseconds{5000});
    reply.retry_after = model::RetryAfter{std::nullopt, model::WallTime{std::chrono::hours{1} + std::chrono::seconds{30}}};
    CHECK(judge(policy, reply).retry_after == model::Milliseconds{30000});
    reply.retry_after = model::RetryAfter{std::nullopt, model::WallTime{}};  // in the past
    CHECK(judge(policy, reply).retry_after == model::Milliseconds{0});
}

TEST_CASE("what the consumer states wins over the status, a rule of the policy wins over both") {
    model::QueuePolicy policy;
    auto reply = answer(500);
    reply.stated = Outcome::permanent;
    reply.error_type = "SchemaValidationError";
    CHECK(judge(policy, reply).outcome == Outcome::permanent);

    model::ClassifyRule rule;
    rule.error_type = patterns("SchemaValidation*");
    rule.as = Outcome::drop;
    policy.classify = {rule};
    CHECK(judge(policy, reply).outcome == Outcome::drop);
    reply.error_type = "Other";
    CHECK(judge(policy, reply).outcome == Outcome::permanent);
}

TEST_CASE("an outcome that nobody knows is transient, of type retryd.BadReply") {
    auto reply = answer(200);
    reply.misstated = true;
    const auto judgement = judge({}, reply);
    CHECK(judgement.outcome == Outcome::transient);
    CHECK(judgement.error_type == "retryd.BadReply");
}

TEST_CASE("rules hold for what the consumer answered, never for a broken connection") {
    model::QueuePolicy policy;
    model::ClassifyRule everything;
    everything.as = Outcome::drop;
    policy.classify = {everything};
    model::Reply lost;
    lost.kind = model::Reply::Kind::lost;
    CHECK(judge(policy, lost).outcome == Outcome::lost);
    lost.kind = model::Reply::Kind::unavailable;
    CHECK(judge(policy, lost).outcome == Outcome::unavailable);
    CHECK(judge(policy, answer(500)).outcome == Outcome::drop);
}

TEST_CASE("all conditions of a rule must hold, the first rule that holds decides") {
    model::QueuePolicy policy;
    model::ClassifyRule first;
    first.status = {{500, 503}};
    first.error_message = patterns("*deadlock*");
    first.as = Outcome::throttled;
    first.delay = std::chrono::seconds{7};
    model::ClassifyRule second;
    second.status = {{500, 599}};
    second.as = Outcome::permanent;
    policy.classify = {first, second};

    auto reply = answer(501);
    reply.error_message = "a deadlock was found";
    CHECK(judge(policy, reply).outcome == Outcome::throttled);
    CHECK(judge(policy, reply).delay == model::Milliseconds{7000});
    reply.status = 504;
    CHECK(judge(policy, reply).outcome == Outcome::permanent);
    CHECK(judge(policy, answer(404)).outcome == Outcome::permanent);
    CHECK(judge(policy, answer(429), true, 0).outcome == Outcome::throttled);  // no rule matches the message
}

TEST_CASE("conditions on the message are looked at once, at the door") {
    model::QueuePolicy policy;
    model::ClassifyRule by_header, by_key, by_type, unconditional;
    by_header.header = {{"x-provider", patterns("fx-*")}};
    by_key.routing_key = patterns("orders.*");
    by_type.type = patterns("invoice");
    policy.classify = {by_header, by_key, by_type, unconditional};

    model::TableWriter table;
    table.add_string("x-provider", "fx-eur");
    const auto headers = table.bytes();
    model::Properties shown;
    shown.headers = headers;
    shown.type = "invoice";
    CHECK(core::rules_matching(policy, shown, "orders.new") == 0b1111);
    CHECK(core::rules_matching(policy, shown, "bills") == 0b1101);
    CHECK(core::rules_matching(policy, {}, "") == 0b1000);
}

TEST_CASE("a failure always has a type for the record") {
    CHECK(judge({}, answer(500)).error_type == "http.500");
    model::Reply lost;
    lost.kind = model::Reply::Kind::lost;
    CHECK(judge({}, lost).error_type == "retryd.lost");
}
