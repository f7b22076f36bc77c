#include "policyfile/advice.hpp"
#include "unit/policyfile/policy_text.hpp"

#include <catch2/catch.hpp>
#include <filesystem>

using namespace retryd;
using namespace retryd::policyfile;
using namespace std::chrono_literals;
using model::Milliseconds;

namespace {

model::Policy good(const std::string& text, const Surroundings& surroundings = {}) {
    Loaded loaded = load(text, surroundings);
    for (const auto& problem : loaded.problems) UNSCOPED_INFO(to_text(problem));
    REQUIRE(loaded.policy);
    return *loaded.policy;
}

model::QueuePolicy queue(const std::string& keys) {
    return good(queue_with(keys)).queues.at(0);
}

std::string file_in_config(const std::string& name) {
    return (std::filesystem::path(RETRYD_CONFIG_FOLDER) / name).string();
}

}  // namespace

TEST_CASE("the smallest file gives the built-in values that the model states") {
    const Loaded loaded = load_file(file_in_config("smallest.yaml"), Environment::of_process());
    REQUIRE(loaded.policy);
    const model::Policy& policy = *loaded.policy;
    CHECK(policy.broker.addresses.at(0).vhost == "/");
    CHECK(policy.broker.heartbeat == model::BrokerPolicy{}.heartbeat);
    CHECK(policy.broker.confirm_timeout == model::BrokerPolicy{}.confirm_timeout);
    CHECK(policy.memory == model::Policy{}.memory);
    CHECK(policy.max_body == model::Policy{}.max_body);
    CHECK_FALSE(policy.admin);
    const model::QueuePolicy& orders = policy.queues.at(0);
    const model::QueuePolicy standard;
    CHECK(orders.name.value == "orders");
    CHECK(orders.lane.value == "retryd.orders.lane");
    CHECK(orders.tier_prefix == "retryd.orders.");
    CHECK(orders.to.exhausted.value == "retryd.orders.parked");
    CHECK(orders.to.permanent.value == "retryd.orders.dlq");
    CHECK(orders.deliver.http.host == "127.0.0.1:8080");
    CHECK(orders.deliver.http.path == "/orders");
    CHECK(orders.deliver.timeout == standard.deliver.timeout);
    CHECK(orders.deliver.concurrency == standard.deliver.concurrency);
    CHECK_FALSE(orders.deliver.ready);
    CHECK(orders.deliver.slow_start == standard.deliver.slow_start);
    CHECK(orders.retry.quick == std::vector<Milliseconds>{200ms, 400ms});
    CHECK(orders.retry.delays == standard.retry.delays);
    CHECK(orders.retry.max == standard.retry.max);
    CHECK(orders.retry.jitter == standard.retry.jitter);
    CHECK(orders.hold.delays == standard.hold.delays);
    CHECK(orders.hold.max_retry_after == standard.hold.max_retry_after);
    CHECK(orders.prefetch == standard.prefetch);
    CHECK(orders.history == standard.history);
}

TEST_CASE("the usual file gives four queues, two of them named by a group only") {
    Environment environment = Environment::of_process();
    const auto read = environment.file;
    environment.file = [&](const std::string& path, std::size_t limit) -> model::Result<std::string> {
        return path == "/run/secrets/amqp" ? model::Result<std::string>("amqp://svc:p%40s@h/prod\n") : read(path, limit);
    };
    const Loaded loaded = load_file(file_in_config("usual.yaml"), environment);
    REQUIRE(loaded.policy);
    const auto& queues = loaded.policy->queues;
    REQUIRE(queues.size() == 4);
    CHECK(queues[0].name.value == "orders");
    CHECK(queues[0].classify.size() == 1);
    CHECK(queues[1].deliver.concurrency == 32);
    CHECK(queues[2].name.value == "fx.eur");
    CHECK(queues[2].deliver.http.path == "/q/fx.eur");
    CHECK(queues[3].retry.delays == std::vector<Milliseconds>{1min, 5min, 30min});
    CHECK(queues[3].retry.max == 3);
    CHECK(queues[3].retry.quick.empty());
    CHECK(loaded.policy->broker.addresses.at(0).password == "p@s");
}

TEST_CASE("a queue goes over its group, a group over defaults; mappings merge, lists are replaced") {
    const model::Policy policy =
        good(broker +
             "defaults: {deliver: {http: \"http://c\", timeout: 1s}, history: 1, retry: {quick: none, spread: 2}}\n"
             "groups: {g: {queues: [a], history: 2, deliver: {timeout: 2s}, retry: {delays: [3s]}}}\n"
             "queues: {a: {history: 3, retry: {quick: {tries: 1}}}, b: \"http://d/x\"}\n");
    const model::QueuePolicy& a = policy.queues.at(0);
    CHECK(a.history == 3);
    CHECK(a.deliver.timeout == 2s);
    CHECK(a.deliver.http.tcp_host == "c");
    CHECK(a.retry.delays == std::vector<Milliseconds>{3s});
    CHECK(a.retry.spread == 2);
    CHECK(a.retry.quick == std::vector<Milliseconds>{200ms});
    const model::QueuePolicy& b = policy.queues.at(1);
    CHECK(b.history == 1);
    CHECK(b.deliver.http.path == "/x");
    CHECK(b.retry.quick.empty());
}

TEST_CASE("every shape of delays becomes a list") {
    CHECK(queue("retry: {delays: {base: 1s, factor: 3, cap: 20s, steps: 5}}").retry.delays ==
          std::vector<Milliseconds>{1s, 3s, 9s, 20s, 20s});
    CHECK(queue("retry: {delays: {base: 100ms, factor: 1.5, steps: 3}}").retry.delays ==
          std::vector<Milliseconds>{100ms, 150ms, 225ms});
    CHECK(queue("retry: {delays: {base: 1d, factor: 100, cap: 7d, steps: 64}}").retry.delays.back() == 168h);
    CHECK(queue("retry: {delays: none}").retry.delays.empty());
    CHECK(queue("retry: {delays: none}").retry.max == 0);
    CHECK(queue("retry: {delays: []}").retry.delays.empty());
    CHECK(queue("retry: {delays: [1s], max: 10}").retry.max == 10);
    CHECK(queue("retry: {quick: none}").retry.quick.empty());
    CHECK(queue("retry: {quick: {tries: 0}}").retry.quick.empty());
    CHECK(queue("retry: {quick: {tries: 3, delay: 100ms, within: 700ms}}").retry.quick ==
          std::vector<Milliseconds>{100ms, 200ms, 400ms});
    CHECK(queue("retry: {quick: {tries: 3, delay: 100ms, within: 699ms}}").retry.quick ==
          std::vector<Milliseconds>{100ms, 200ms});
    CHECK(queue("retry: {jitter: full}").retry.full_jitter);
}

TEST_CASE("the other keys reach the policy") {
    CHECK(queue("prefetch: auto, deliver: {concurrency: 100}").prefetch == 200);
    CHECK(queue("prefetch: 7, deliver: {concurrency: 5}").prefetch == 7);
    CHECK(queue("declare: classic").declare == model::QueueType::classic);
    CHECK(queue("deliver: {headers: {Content-Type: text/plain}}").deliver.headers.size() == 1);
    CHECK_FALSE(queue("declare: none").declare);
    CHECK(queue("limits: {age: 2h}").age_limit == Milliseconds{2h});
    CHECK(queue("limits: {suspect_after: 3}").suspect_after == 3);
    CHECK(queue("limits: {solo_tries: 1}").solo_tries == 1);
    CHECK(queue("to: {poison: dlq}").to.poison.value == "retryd.w.dlq");
    CHECK(queue("hold: {max: 1d}").hold.max == Milliseconds{24h});
    CHECK(queue("to: {permanent: {queue: \"bad.{queue}\"}, age: dlq}").to.permanent.value == "bad.w");
    CHECK(queue("to: {age: dlq}").to.age.value == "retryd.w.dlq");
    const auto rule =
        queue("classify: [{status: [404, 5xx, 500-503], header: {x-p: \"fx-*\"}, as: throttled, delay: 5s}]").classify.at(0);
    CHECK(rule.status.at(0).first == 404);
    CHECK(rule.status.at(1).last == 599);
    CHECK(rule.status.at(2).last == 503);
    CHECK(rule.header.at(0).any_of.at(0).matches("fx-1"));
    CHECK(rule.as == model::Outcome::throttled);
    CHECK(rule.delay == Milliseconds{5s});
    const std::string queues = "queues: {w: \"http://c\"}\n";
    const model::Policy policy = good(
        "broker: {uri: [amqp://a, \"amqp://u:p@[::1]:5673/v\"]}\nlog: {level: debug, format: json}\n"
        "admin: {listen: \"unix:/a.sock\"}\nmetrics: {listen: \"127.0.0.1:9090\"}\n" +
        queues);
    CHECK(policy.broker.addresses.at(1).host == "::1");
    CHECK(policy.log_level == model::LogLevel::debug);
    CHECK(policy.admin->at(0).unix_path == "/a.sock");
    CHECK(policy.metrics.at(0).tcp_port == 9090);
    CHECK(load(broker + "metrics: {listen: \"0.0.0.0:9090\"}\n" + queues).warnings.size() == 1);
    const Surroundings token{{}, {{"/t", "0123456789abcdef\n"}}};
    const auto guarded = load(broker + "admin: {listen: [\"unix:/a.sock\", \"[::1]:9465\"], token_file: /t}\n" + queues, token);
    REQUIRE(guarded.policy);
    CHECK(guarded.policy->admin_token == "0123456789abcdef");
    CHECK(guarded.policy->admin->at(1).tcp_port == 9465);
    CHECK(guarded.warnings.empty());
    const auto wide = load(broker + "admin: {listen: \"0.0.0.0:9465\", token_file: /t}\n" + queues, token);
    CHECK(wide.warnings.size() == 1);
}

TEST_CASE("what YAML would take for a truth value, a number, a time or nothing stays the name that it is") {
    for (const std::string word : {"no",  "yes",      "on", "off", "true", "y",    "007",   "0o7",        "0x10",  "1.10",
                                   "1e3", "12:30:45", "+5", "-0",  ".inf", ".NaN", "1_000", "2026-02-14", "\"~\"", "'null'"}) {
        CAPTURE(word);
        const bool quoted = word[0] == '"' || word[0] == '\'';
        const std::string name = quoted ? word.substr(1, word.size() - 2) : word;
        CHECK(good(broker + "queues: {" + word + ": \"http://c\"}\n").queues.at(0).name.value == name);
        CHECK(queue("to: {permanent: {queue: " + word + "}}").to.permanent.value == name);
        CHECK(good(broker + "groups: {g: {queues: [" + word + "], deliver: {http: \"http://c\"}}}\n").queues.at(0).name.value ==
              name);
    }
}

TEST_CASE("a stream stands instead of http, with who may come to it") {
    const model::Policy policy =
        good(broker +
             "defaults: {deliver: {stream: \"unix:/run/{queue}.sock\", stream_access: {mode: \"0600\", uid: 33}}}\n"
             "queues: {a: {deliver: {stream_access: {mode: \"666\", owner: app, group: 1000, uid: [1, 2]}}}, b: {},\n"
             "         c: {deliver: {stream: none, http: \"http://c\"}}}\n");
    const auto& a = policy.queues.at(0).deliver.stream;
    REQUIRE(a);
    CHECK(a->unix_path == "/run/a.sock");
    CHECK(a->access.mode == 0666);
    CHECK(a->access.owner == "app");
    CHECK(a->access.group == "1000");
    CHECK(a->access.uids == std::vector<std::uint32_t>{1, 2});
    const auto& b = policy.queues.at(1).deliver.stream;
    REQUIRE(b);
    CHECK(b->unix_path == "/run/b.sock");
    CHECK(b->access.mode == 0600);
    CHECK_FALSE(b->access.owner);
    CHECK(b->access.uids == std::vector<std::uint32_t>{33});
    CHECK_FALSE(policy.queues.at(2).deliver.stream);
    CHECK(queue("").deliver.stream.has_value() == false);
}

TEST_CASE("a standing gate is a path, or a mapping with its pace") {
    const auto ready = [](const std::string& text) { return queue("deliver: {ready: " + text + "}").deliver.ready; };
    const auto plain = ready("\"/ready/{queue}\"");
    REQUIRE(plain);
    CHECK(plain->path == "/ready/w");
    CHECK(plain->every == 2s);
    CHECK(plain->down_after == 1);
    CHECK(plain->up_after == 1);
    const auto paced = ready("{path: /r, every: 500ms, down_after: 3, up_after: 2}");
    REQUIRE(paced);
    CHECK(paced->path == "/r");
    CHECK(paced->every == 500ms);
    CHECK(paced->down_after == 3);
    CHECK(paced->up_after == 2);
    CHECK_FALSE(ready("none"));
    const model::Policy policy = good(broker +
                                      "defaults: {deliver: {http: \"http://c\", ready: {path: /d, every: 1s}}}\n"
                                      "queues: {a: {deliver: {ready: {every: 9s}}}, b: {deliver: {ready: /b}},\n"
                                      "         c: {deliver: {http: none, stream: \"unix:/s\", ready: none}}}\n");
    CHECK(policy.queues.at(0).deliver.ready->path == "/d");
    CHECK(policy.queues.at(0).deliver.ready->every == 9s);
    CHECK(policy.queues.at(1).deliver.ready->path == "/b");
    CHECK(policy.queues.at(1).deliver.ready->every == 2s);
    CHECK_FALSE(policy.queues.at(2).deliver.ready);
    CHECK(queue("deliver: {slow_start: 1m}").deliver.slow_start == Milliseconds{1min});
    CHECK_FALSE(queue("deliver: {slow_start: none}").deliver.slow_start);
}

TEST_CASE("secrets are put in once, and no fault shows them") {
    Surroundings around;
    around.variables = {{"PW", "pa$$w0rd$HOME${X}{queue}"}, {"N", "7"}, {"URI", "amqp://svc:p@s:s/w#rd?%@h"}};
    const std::string block = broker + "queues:\n  w:\n    deliver: {http: \"http://c\"}\n    ";
    around.files = {{"/s/w", "from-file\n"}, {"/s/dollars", "pa$$w0rd$HOME${X}\n"}, {"/s/big", std::string(70000, 'x')}};
    const auto header = [&](const std::string& text) {
        return good(queue_with("deliver: {headers: {X: \"" + text + "\"}}"), around).queues.at(0).deliver.headers.at(0).second;
    };
    CHECK(header("${env:PW}") == "pa$$w0rd$HOME${X}{queue}");
    CHECK(header("a$${env:PW}$HOME$") == "a${env:PW}$HOME$");
    CHECK(header("${file:/s/w}-{queue}") == "from-file-w");
    CHECK(header("${file:/s/{queue}}") == "from-file");
    CHECK(header("${file:/s/dollars}") == "pa$$w0rd$HOME${X}");
    CHECK(good(block + "history: ${env:N}\n", around).queues.at(0).history == 7);
    const auto fault = [&](const std::string& text) {
        return faults_of(queue_with("deliver: {headers: {X: \"" + text + "\"}}"), around).at(0);
    };
    CHECK(fault("${env:NO}").find("environment variable NO, which is not set") != std::string::npos);
    CHECK(fault("${file:/no}").find("names the file \"/no\": No such file") != std::string::npos);
    CHECK(fault("${file:/s/big}").find("is too large") != std::string::npos);
    CHECK(fault("${X}").find("the forms are ${env:NAME} and ${file:/PATH}") != std::string::npos);
    CHECK(fault("${env:A").find("not closed") != std::string::npos);
    const std::string uri = faults_of("broker: \"${env:URI}\"\nqueues: {w: \"http://c\"}\n", around).at(0);
    CHECK(uri.find("w#rd") == std::string::npos);
    CHECK(uri.find("p@s") == std::string::npos);
    CHECK(faults_of(block + "history: ${env:PW}\n", around).at(0).find("w0rd") == std::string::npos);
}

TEST_CASE("the effective view names the line of each value and hides passwords") {
    const std::string text =
        "broker: amqp://svc:hush@h\ndefaults: {deliver: {http: \"http://c\", headers: {X: hush}}}\nqueues:\n  w: {history: "
        "3}\n";
    const Environment environment = Surroundings{}.environment();
    const auto values = effective_values_of_text(text, "p.yaml", "w", environment);
    REQUIRE(values);
    const auto line = [&](const std::string& key) {
        for (const EffectiveValue& value : *values) {
            if (value.key == key) return value.value + " | " + value.origin + (value.later ? " | later" : "");
        }
        return std::string("no such key");
    };
    CHECK(line("broker.uri") == "amqp://svc:***@h | p.yaml:1");
    CHECK(line("deliver.headers.X") == "*** | defaults, p.yaml:2");
    CHECK(line("history") == "3 | queue, p.yaml:4");
    CHECK(line("retry.delays") == "[1s, 2s, 4s, 8s, 16s, 32s] | built-in");
    CHECK(line("breaker.window") == "30s | built-in");
    CHECK(line("events") == "{} | built-in | later");
    CHECK_FALSE(effective_values_of_text(text, "p.yaml", "x", environment));
}

TEST_CASE("the hash tells policies apart by their values, not by their layout or their secrets") {
    const std::string hash = good(queue_with("history: 3")).hash;
    CHECK(hash.size() == 16);
    CHECK(good(broker + "\n# moved\ndefaults: {history: 3, deliver: {http: \"http://c\"}}\nqueues: {w: {}}\n").hash == hash);
    CHECK(good(queue_with("history: 4")).hash != hash);
    const std::string queues = "\nqueues: {w: \"http://c\"}\n";
    CHECK(good("broker: amqp://u:a@h" + queues).hash == good("broker: amqp://u:b@h" + queues).hash);
}

TEST_CASE("a policy's dangers are said, and queues of which the same is true share a line") {
    const model::Policy policy = good(broker +
                                      "defaults: {deliver: {http: \"http://c\", timeout: 1m}, breaker: none}\n"
                                      "queues: {a: {}, b: {}, c: {retry: {delays: [1m], max: 12, jitter: 0%},\n"
                                      "         hold: {delays: [1s, 15m]}}, d: {hold: {delays: [1s, 5m]}}}\n");
    const auto summary = summary_of(policy);
    REQUIRE(summary.size() == 3);
    CHECK(summary[0].substr(0, 48) == "a, b: up to 9 attempts (1 first, 2 quick, 6 dela");
    std::string all;
    for (const std::string& danger : dangers_of(policy)) all += danger + "\n";
    CHECK(all.find("a, b, d: retries are over after 1m16s200ms") != std::string::npos);
    CHECK(all.find("c: a Retry-After of 6h makes 24 hops through the hold queues, the longest of which is 15m;") !=
          std::string::npos);
    CHECK(all.find("d: a Retry-After of 6h makes 72 hops") != std::string::npos);
    CHECK(all.find("a, b: a Retry-After") == std::string::npos);
    CHECK(all.find("c: 14 retries of each failing message") != std::string::npos);
    CHECK(all.find("c: jitter is 0%") != std::string::npos);
    CHECK(all.find("a drain may take 1m2s") != std::string::npos);
}
