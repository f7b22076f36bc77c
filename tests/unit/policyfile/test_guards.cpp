// `breaker`, `needs`, `budgets`, `storm`, rates and `dependencies`: what they may be, and what is said of the rest.

#include "policyfile/builtin.hpp"
#include "policyfile/guards_reader.hpp"
#include "policyfile/merge.hpp"
#include "policyfile/queue_reader.hpp"
#include "unit/policyfile/policy_text.hpp"

#include <catch2/catch.hpp>

using namespace retryd;
using namespace retryd::policyfile;
using namespace std::chrono_literals;

namespace {

struct Read {
    std::vector<model::DependencyPolicy> dependencies;
    model::QueuePolicy queue;
    std::vector<std::string> faults;
};

// The queue keys of `text` over the built-in ones.
Read read(const std::string& text, std::vector<model::DependencyPolicy> dependencies = {}) {
    const Surroundings nowhere;
    const Environment environment = nowhere.environment();
    Faults faults("p");
    Secrets secrets(environment);
    Values values(faults, secrets, "w");
    const Node built_in = built_in_values();
    Node merged = *built_in.find("defaults");
    lay_over(merged, parse_document(text, faults), *built_in.find("defaults"));
    Read out;
    out.dependencies = std::move(dependencies);
    read_queue_values({merged, ""}, out.dependencies, values, out.queue);
    for (const auto& problem : faults.faults()) out.faults.push_back(to_text(problem).substr(2));
    return out;
}

model::QueuePolicy good(const std::string& text, std::vector<model::DependencyPolicy> dependencies = {}) {
    const auto out = read(text, std::move(dependencies));
    for (const auto& fault : out.faults) UNSCOPED_INFO(fault);
    CHECK(out.faults.empty());
    return out.queue;
}

Read dependencies(const std::string& text) {
    const Surroundings nowhere;
    const Environment environment = nowhere.environment();
    Faults faults("p");
    Secrets secrets(environment);
    Values values(faults, secrets, "");
    Node root = parse_document(text, faults);
    for (Entry& entry : root.find("dependencies")->entries) {
        Node complete = built_in_dependency();
        lay_over(complete, entry.value, built_in_dependency());
        entry.value = complete;
    }
    Read out;
    read_dependencies(Field{root, ""}.at("dependencies"), values, out.dependencies);
    for (const auto& problem : faults.faults()) out.faults.push_back(to_text(problem).substr(2));
    return out;
}

std::vector<model::DependencyPolicy> two_dependencies() {
    std::vector<model::DependencyPolicy> both(2);
    both[0].name = "db";
    both[1].name = "fx";
    return both;
}

}  // namespace

TEST_CASE("what nobody writes is what the model states") {
    const auto queue = good("history: 1");
    const model::QueuePolicy standard;
    REQUIRE(queue.breaker);
    CHECK(queue.breaker->window == standard.breaker->window);
    CHECK(queue.breaker->failure_rate == standard.breaker->failure_rate);
    CHECK(queue.breaker->min_calls == standard.breaker->min_calls);
    CHECK(queue.breaker->all_fail == standard.breaker->all_fail);
    CHECK(queue.breaker->open_for == standard.breaker->open_for);
    CHECK(queue.breaker->open_max == standard.breaker->open_max);
    CHECK(queue.breaker->half_open == standard.breaker->half_open);
    CHECK_FALSE(queue.breaker->slow_call);
    CHECK(queue.budgets.park->per_success == standard.budgets.park->per_success);
    CHECK(queue.budgets.park->burst == standard.budgets.park->burst);
    CHECK(queue.budgets.park->floor == standard.budgets.park->floor);
    CHECK(queue.budgets.dead_letter->per_success == standard.budgets.dead_letter->per_success);
    CHECK(queue.budgets.dead_letter->burst == standard.budgets.dead_letter->burst);
    CHECK(queue.budgets.dead_letter->floor == standard.budgets.dead_letter->floor);
    CHECK(queue.storm->failure_rate == standard.storm->failure_rate);
    CHECK(queue.storm->growth == standard.storm->growth);
    CHECK(queue.storm->within == standard.storm->within);
    CHECK(queue.storm->min_depth == standard.storm->min_depth);
    CHECK(queue.storm->retry_messages == standard.storm->retry_messages);
    CHECK(queue.storm->damp == standard.storm->damp);
    CHECK(queue.storm->stretch == standard.storm->stretch);
    CHECK(queue.storm->calm_for == standard.storm->calm_for);
    CHECK(queue.retry.skip_quick_above == standard.retry.skip_quick_above);
    CHECK_FALSE(queue.deliver.rate);
    CHECK_FALSE(queue.deliver.adaptive);
    CHECK(queue.needs.empty());
}

TEST_CASE("each guard can be turned off") {
    CHECK_FALSE(good("breaker: none").breaker);
    CHECK_FALSE(good("storm: none").storm);
    CHECK_FALSE(good("budgets: none").budgets.park);
    CHECK_FALSE(good("budgets: none").budgets.dead_letter);
    CHECK_FALSE(good("budgets: {park: none}").budgets.park);
    CHECK(good("budgets: {park: none}").budgets.dead_letter);
    CHECK_FALSE(good("retry: {quick: {skip_above: none}}").retry.skip_quick_above);
    CHECK_FALSE(good("breaker: {all_fail: none}").breaker->all_fail);
}

TEST_CASE("their values reach the policy") {
    const auto breaker =
        good("breaker: {window: 1m, failure_rate: 50%, min_calls: 5, all_fail: 3, open_for: 1s, open_max: 2s, half_open: 1}")
            .breaker;
    CHECK(breaker->window == 1min);
    CHECK(breaker->failure_rate.value == 0.5);
    CHECK(breaker->min_calls == 5);
    CHECK(breaker->all_fail == 3U);
    CHECK(breaker->open_for == 1s);
    CHECK(breaker->open_max == 2s);
    CHECK(breaker->half_open == 1);
    const auto budget = good("budgets: {park: {per_success: 0.25, burst: 7, floor: 3/h}}").budgets.park;
    CHECK(budget->per_success == 0.25);
    CHECK(budget->burst == 7);
    CHECK(budget->floor == model::Frequency{3, 1h});
    const auto storm = good(
                           "storm: {failure_rate: 5%, growth: 2.5, within: 1m, min_depth: 9, retry_messages: 30%, damp: 10%, "
                           "stretch: 2, calm_for: 2m}")
                           .storm;
    CHECK(storm->failure_rate.value == 0.05);
    CHECK(storm->growth == 2.5);
    CHECK(storm->within == 1min);
    CHECK(storm->min_depth == 9);
    CHECK(storm->retry_messages.value == 0.3);
    CHECK(storm->damp.value == 0.1);
    CHECK(storm->stretch == 2);
    CHECK(storm->calm_for == 2min);
    CHECK(good("deliver: {rate: 90/m}").deliver.rate->limit == model::Frequency{90, 1min});
    CHECK(good("deliver: {rate: 90/m}").deliver.rate->burst == 2);
    CHECK(good("deliver: {rate: 1/h}").deliver.rate->burst == 1);
    CHECK(good("deliver: {rate: 100/s, burst: 5}").deliver.rate->burst == 5);
    const auto found_out = good("deliver: {concurrency: auto}").deliver;
    CHECK(found_out.adaptive->min == 1);
    CHECK(found_out.adaptive->max == 16);
    CHECK(found_out.concurrency == 16);
    const auto within = good("deliver: {concurrency: {min: 4, max: 64}}");
    CHECK(within.deliver.adaptive->min == 4);
    CHECK(within.deliver.concurrency == 64);
    CHECK(within.prefetch == 128);
    CHECK_FALSE(good("deliver: {concurrency: 8}").deliver.adaptive);
    CHECK(good("retry: {quick: {skip_above: 25%}}").retry.skip_quick_above->value == 0.25);
}

TEST_CASE("a queue needs dependencies, some of its messages others") {
    const auto needs = good("needs: [db, {fx: {header: {x-provider: \"fx-*\"}}}]", two_dependencies()).needs;
    REQUIRE(needs.size() == 2);
    CHECK(needs[0].dependency == 0);
    CHECK(needs[0].when.any());
    CHECK(needs[1].dependency == 1);
    CHECK(needs[1].when.header.at(0).any_of.at(0).matches("fx-eur"));
    CHECK(good("needs: []").needs.empty());
}

TEST_CASE("what is wrong with a guard is said with its place, and what would be right") {
    const std::vector<std::pair<std::string, std::string>> rows{
        {"breaker: {failure_rate: 0%}", "1:25: breaker.failure_rate: \"0%\" is under 1%; 1% to 100%"},
        {"breaker: {failure_rate: 101%}", "1:25: breaker.failure_rate: \"101%\" is over 100%; 1% to 100%"},
        {"breaker: {half_open: 0}", "1:22: breaker.half_open: \"0\" is under 1; 1 to 100"},
        {"breaker: {open_for: 6m}",
         "1:21: breaker.open_for: open_for (6m) is over open_max (5m); open_max is the longest that it grows to"},
        {"breaker: {open_max: 1s}",
         "1:21: breaker.open_max: open_for (10s) is over open_max (1s); open_max is the longest that it grows to"},
        {"budgets: {park: {floor: 10}}",
         "1:25: budgets.park.floor: \"10\" says no unit of time; a rate is a whole number, a slash and a unit of time: 100/s, "
         "10/m or 5/h"},
        {"budgets: {park: {floor: 10/ms}}",
         "1:25: budgets.park.floor: \"10/ms\" has an unknown unit of time; a rate is a whole number, a slash and a unit of "
         "time: 100/s, 10/m or 5/h"},
        {"storm: {growth: 1}", "1:17: storm.growth: \"1\" is under 1.1; 1.1 to 100"},
        {"deliver: {concurrency: {min: 5, max: 4}}", "1:24: deliver.concurrency: min (5) is over max (4); {min: 1, max: 16}"},
        {"deliver: {concurrency: {least: 1}}", "1:25: unknown key \"deliver.concurrency.least\"; known here: min, max"},
        {"deliver: {rate: 0/s}", "1:17: deliver.rate: \"0/s\" is under 1/d; 1/d to 1000000/s"},
        {"needs: db", "1:8: needs: a list of dependencies is due; [db, {fx: {header: {x-provider: \"fx-*\"}}}]"},
        {"needs: [dbb]", "1:9: needs: \"dbb\" is none of the dependencies; did you mean db?"},
        {"needs: [db, db]", "1:13: needs: \"db\" stands twice; one condition with a list: a list means one of"},
        {"needs: [{db: {}}]",
         "1:14: needs.db: a condition is due: header, routing_key or type; [db, {fx: {header: {x-provider: \"fx-*\"}}}]"},
        {"needs: [{db: {status: 500}}]", "1:15: unknown key \"needs.db.status\"; known here: header, routing_key, type"},
    };
    for (const auto& [text, fault] : rows) {
        CAPTURE(text);
        CHECK(read(text, two_dependencies()).faults == std::vector<std::string>{fault});
    }
    CHECK(read("needs: [db]").faults ==
          std::vector<std::string>{"1:9: needs: \"db\" is none of the dependencies; dependencies: {db: {}}"});
}

TEST_CASE("a dependency has a breaker, a rate and a way to recover") {
    const auto read = dependencies(
        "dependencies: {a: {}, b: {window: 1m, slow_call: 2s, slow_rate: 50%, on_open: divert, rate: 5/s, burst: 2, recover: "
        "{to: 150%, of: 5m}}, c: {recover: none, slow_call: none}}");
    CHECK(read.faults.empty());
    REQUIRE(read.dependencies.size() == 3);
    const auto& a = read.dependencies[0];
    CHECK(a.name == "a");
    CHECK(a.breaker.failure_rate.value == 0.5);
    CHECK(a.breaker.all_fail == 10U);
    CHECK(a.breaker.slow_call == model::Milliseconds{10s});
    CHECK(a.breaker.slow_rate.value == 1);
    CHECK(a.on_open == model::OnOpen::automatic);
    CHECK_FALSE(a.rate);
    CHECK(a.recover->to.value == 1.2);
    CHECK(a.recover->of == 10min);
    const auto& b = read.dependencies[1];
    CHECK(b.breaker.window == 1min);
    CHECK(b.breaker.slow_call == model::Milliseconds{2s});
    CHECK(b.breaker.slow_rate.value == 0.5);
    CHECK(b.on_open == model::OnOpen::divert);
    CHECK(b.rate->limit == model::Frequency{5, 1s});
    CHECK(b.rate->burst == 2);
    CHECK(b.recover->to.value == 1.5);
    CHECK_FALSE(read.dependencies[2].recover);
    const auto with_fallback =
        dependencies("dependencies: {a: {on_open: fallback, fallback: [\"http://c:81/x\", \"unix:/run/x.sock\"]}}")
            .dependencies;
    CHECK(with_fallback.at(0).on_open == model::OnOpen::fallback);
    REQUIRE(with_fallback.at(0).fallback.size() == 2);
    CHECK(with_fallback.at(0).fallback[0].path == "/x");
    CHECK(with_fallback.at(0).fallback[1].unix_path == "/run/x.sock");
    CHECK_FALSE(read.dependencies[2].breaker.slow_call);
    const std::vector<std::pair<std::string, std::string>> rows{
        {"{other: {}}", "1:16: dependencies: \"other\" stands for what replies name and the policy does not; another name"},
        {"{\"a b\": {}}",
         "1:16: dependencies: \"a b\" is no name of a dependency; letters, digits, '-', '_' and '.', at most 64"},
        {"{a: {on_open: fallback, fallback: [\"ftp://c\"]}}",
         "1:50: dependencies.a.fallback: the address is no address of a consumer; on_open: fallback, fallback: "
         "[\"http://127.0.0.1:8081/later\"]"},
        {"{a: {on_open: fallback, fallback: []}}",
         "1:29: dependencies.a.on_open: fallback, and nobody is named; on_open: fallback, fallback: "
         "[\"http://127.0.0.1:8081/later\"]"},
        {"{a: {on_open: fallback}}",
         "1:29: dependencies.a.on_open: fallback, and nobody is named; on_open: fallback, fallback: "
         "[\"http://127.0.0.1:8081/later\"]"},
        {"{a: {fallback: [\"http://c\"]}}",
         "1:30: dependencies.a.fallback: takes no effect, as on_open is not fallback; on_open: fallback, fallback: "
         "[\"http://127.0.0.1:8081/later\"]"},
        {"{a: {recover: {to: 90%}}}", "1:34: dependencies.a.recover.to: \"90%\" is under 100%; 100% to 1000%"},
    };
    for (const auto& [text, fault] : rows) {
        CAPTURE(text);
        CHECK(dependencies("dependencies: " + text).faults == std::vector<std::string>{fault});
    }
}
