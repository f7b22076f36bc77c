#include "unit/policyfile/policy_text.hpp"

#include <catch2/catch.hpp>

using namespace retryd;
using namespace retryd::policyfile;

namespace {

struct Row {
    std::string keys;   // of a queue, in flow style: they begin at 4:6
    std::string fault;  // begins so
};

void check_rows(const std::vector<Row>& rows) {
    for (const Row& row : rows) {
        const std::vector<std::string> faults = faults_of(queue_with(row.keys));
        INFO(row.keys);
        for (const std::string& fault : faults) UNSCOPED_INFO(fault);
        REQUIRE(faults.size() == 1);
        CHECK(faults[0].substr(0, row.fault.size()) == row.fault);
    }
}

}  // namespace

TEST_CASE("a duration without one plain unit is refused at its place") {
    check_rows({
        {"deliver: {timeout: 30}",
         "4:25: deliver.timeout: \"30\" has no unit; a duration is a whole number and one unit: 250ms, 30s"},
        {"deliver: {timeout: 5 s}", "4:25: deliver.timeout: \"5 s\" has a space between number and unit"},
        {"deliver: {timeout: 1h30m}", "4:25: deliver.timeout: \"1h30m\" is a sum of units"},
        {"deliver: {timeout: 1.5s}", "4:25: deliver.timeout: \"1.5s\" is not a whole number"},
        {"deliver: {timeout: -5s}", "4:25: deliver.timeout: \"-5s\" is negative"},
        {"deliver: {timeout: 5M}", "4:25: deliver.timeout: \"5M\" has an unknown unit"},
        {"deliver: {timeout: .inf}", "4:25: deliver.timeout: \".inf\" does not begin with a number"},
        {"deliver: {timeout: 010s}", "4:25: deliver.timeout: \"010s\" has a leading zero"},
        {"deliver: {timeout: 0s}", "4:25: deliver.timeout: \"0s\" is under 1ms"},
        {"deliver: {timeout: 11m}", "4:25: deliver.timeout: \"11m\" is over 10m; 1ms to 10m"},
        {"deliver: {timeout: 99999999999999999999s}", "4:25: deliver.timeout: \"99999999999999999999s\" is far too large"},
        {"retry: {delays: [1s, 40ms]}", "4:27: retry.delays: \"40ms\" is under 50ms; 50ms to 7d"},
        {"retry: {delays: [8d]}", "4:23: retry.delays: \"8d\" is over 7d"},
    });
}

TEST_CASE("a number that could be read in two ways is refused") {
    check_rows({
        {"prefetch: 0100", "4:16: prefetch: \"0100\" has a leading zero, which some read as octal; write it without"},
        {"prefetch: 0o10", "4:16: prefetch: \"0o10\" is not a whole number"},
        {"prefetch: 0x10", "4:16: prefetch: \"0x10\" is not a whole number"},
        {"prefetch: +5", "4:16: prefetch: \"+5\" is not a whole number"},
        {"prefetch: 1_000", "4:16: prefetch: \"1_000\" is not a whole number"},
        {"prefetch: -1", "4:16: prefetch: \"-1\" is negative"},
        {"prefetch: 1.0", "4:16: prefetch: \"1.0\" is not a whole number"},
        {"prefetch: .nan", "4:16: prefetch: \".nan\" is not a whole number"},
        {"prefetch: \"5\"", "4:16: prefetch: \"5\" in quotes is a string; a number is due: write it without quotes"},
        {"prefetch: 65536", "4:16: prefetch: \"65536\" is over 65535; 1 to 65535"},
        {"prefetch: 0", "4:16: prefetch: \"0\" is under 1"},
        {"history: 101", "4:15: history: \"101\" is over 100"},
        {"limits: {suspect_after: 0}", "4:30: limits.suspect_after: \"0\" is under 1"},
        {"limits: {solo_tries: none}", "4:27: limits.solo_tries: \"none\" is not a whole number"},
        {"deliver: {concurrency: 10001}", "4:29: deliver.concurrency: \"10001\" is over 10000"},
        {"retry: {spread: 17}", "4:22: retry.spread: \"17\" is over 16"},
        {"retry: {jitter: 0.2}", "4:22: retry.jitter: \"0.2\" has no %; a share is a whole number of percent: 20%"},
        {"retry: {jitter: 91%}", "4:22: retry.jitter: \"91%\" is over 90%"},
        {"lane_share: 0%", "4:18: lane_share: \"0%\" is under 1%"},
        {"deliver: {max_reply: 64KB}", "4:27: deliver.max_reply: \"64KB\" has an unknown unit; a size is"},
        {"deliver: {max_reply: 65536}", "4:27: deliver.max_reply: \"65536\" has no unit"},
        {"retry: {quick: {factor: 0.5}}", "4:30: retry.quick.factor: \"0.5\" is under 1"},
        {"retry: {quick: {factor: .inf}}", "4:30: retry.quick.factor: \".inf\" is not a number"},
        {"retry: {quick: {factor: 1.5x}}", "4:30: retry.quick.factor: \"1.5x\" is not a number"},
    });
}

TEST_CASE("an unknown key is told with the key that was meant") {
    check_rows({
        {"retri: {}", "4:6: unknown key \"retri\"; did you mean retry?"},
        {"retry: {delay: [1s]}", "4:14: unknown key \"retry.delay\"; did you mean delays?"},
        {"timeout: 5s", "4:6: unknown key \"timeout\"; did you mean deliver.timeout?"},
        {"deliver: {xyzzyxyzzy: 1}", "4:16: unknown key \"deliver.xyzzyxyzzy\"; known here: http, path"},
        {"classify: [{status: 404, as: permanent, dely: 1s}]", "4:46: unknown key \"classify.dely\"; did you mean delay?"},
        {"retry: {delays: {bas: 1s}}", "4:23: unknown key \"retry.delays.bas\"; did you mean base?"},
        {"to: {permanent: {queu: x, queue: y}}", "4:23: unknown key \"to.permanent.queu\"; did you mean queue?"},
    });
    CHECK(faults_of(broker + "retry: {}\nqueues: {w: \"http://c\"}\n") ==
          std::vector<std::string>{"2:1: unknown key \"retry\"; did you mean defaults.retry?"});
}

TEST_CASE("what is due later is refused where it stands, even with its built-in value") {
    check_rows({
        {"retry: {backend: plugin}", "4:23: retry.backend: plugin is not supported yet; queues"},
        {"retry: {return_to: work}", "4:25: retry.return_to: work is not supported yet; lane"},
        {"to: {age: {exchange: x, key: y}}", "4:17: to.age.exchange is not supported yet"},
    });
    const std::string queues = "queues: {w: \"http://c\"}\n";
    CHECK(faults_of("broker: {uri: amqp://h, management: x}\n" + queues) ==
          std::vector<std::string>{"1:25: broker.management is not supported yet; leave it out"});
    CHECK(faults_of("broker: amqp://u:secret@h\nevents: {}\n" + queues) ==
          std::vector<std::string>{"2:1: events is not supported yet; leave it out"});
}

TEST_CASE("an admin address over TCP needs a token that is one") {
    const std::string queues = "queues: {w: \"http://c\"}\n";
    const auto faults = [&](const std::string& admin, const std::string& token = "") {
        return faults_of(broker + "admin: " + admin + "\n" + queues, {{}, {{"/t", token}}});
    };
    using Lines = std::vector<std::string>;
    CHECK(faults("{listen: \"127.0.0.1:80\"}") == Lines{"2:17: admin.listen: \"127.0.0.1:80\": over TCP a token is needed; "
                                                        "admin.token_file: the path of a file that holds it"});
    CHECK(faults("{listen: \"127.0.0.1\", token_file: /t}", "0123456789abcdef").size() == 1);
    CHECK(faults("{listen: \"127.0.0.1:80\", token_file: /nowhere}") ==
          Lines{"2:45: admin.token_file: names the file \"/nowhere\": No such file or directory"});
    for (const std::string token :
         {"", "0123456789abcde", "0123456789 abcdef", "0123456789\nabcdef", "0123456789abcd\xc3\xbc"}) {
        CAPTURE(token);
        const auto told = faults("{listen: \"127.0.0.1:80\", token_file: /t}", token);
        REQUIRE(told.size() == 1);
        CHECK(told[0].starts_with("2:45: admin.token_file: \"/t\" holds no token; "));
        CHECK((token.empty() || told[0].find(token) == std::string::npos));
    }
    CHECK(faults("{listen: \"127.0.0.1:80\", token_file: /t}", "0123456789abcdef\n").empty());
    CHECK(faults("{listen: \"unix:/a.sock\"}").empty());
}

TEST_CASE("values that make no sense are told with what would") {
    check_rows({
        {"deliver: {timeout: [1s]}", "4:25: deliver.timeout: a list stands here; one value is due"},
        {"deliver: 5", "4:15: deliver is not a mapping; its keys stand below it"},
        {"declare: yes", "4:15: declare: \"yes\" is none of its words; one of: none, quorum, classic"},
        {"retry: {queue_type: stream}", "4:26: retry.queue_type: \"stream\" is none of its words"},
        {"retry: {quick: some}", "4:21: retry.quick: \"some\" is not understood; none, or"},
        {"retry: {delays: 5s}", "4:22: retry.delays: \"5s\" is no list of delays"},
        {"retry: {delays: none, max: 3}", "4:33: retry.max: delayed retries without a delay"},
        {"retry: {delays: {base: 5m}}", "4:22: retry.delays: base (5m) is over cap (1m)"},
        {"hold: {delays: [1m, 1m]}", "4:21: hold.delays: the delays do not rise"},
        {"hold: {delays: []}", "4:21: hold.delays: a list of delays is due"},
        {"hold: {max: 0s}", "4:18: hold.max: \"0s\" is under 1s"},
        {"to: {exhausted: nowhere}", "4:22: to.exhausted: \"nowhere\" is no place for messages; parked, dlq or {queue: NAME}"},
        {"to: {exhausted: {queue: w}}", "4:30: to.exhausted.queue: \"w\" is the work queue itself, a circle"},
        {"to: {exhausted: {queue: retryd.w.lane}}", "4:30: to.exhausted.queue: \"retryd.w.lane\" is the return lane of \"w\""},
        {"to: {exhausted: {queue: retryd.w.delay.800ms}}",
         "4:30: to.exhausted.queue: \"retryd.w.delay.800ms\" is a delay queue of"},
        {"to: {exhausted: {queue: retryd.w.hold.800ms.classic}}",
         "4:30: to.exhausted.queue: \"retryd.w.hold.800ms.classic\" is a"},
        {"deliver: {headers: [a]}", "4:25: deliver.headers is not a mapping"},
        {"deliver: {headers: {Host: x}}", "4:26: deliver.headers: \"Host\" is set by retryd itself"},
        {"deliver: {headers: {retryd-queue: x}}", "4:26: deliver.headers: \"retryd-queue\" is set by retryd itself"},
        {"deliver: {headers: {idempotency-KEY: x}}", "4:26: deliver.headers: \"idempotency-KEY\" is set by retryd itself"},
        {"deliver: {headers: {a b: x}}", "4:26: deliver.headers: \"a b\" is no name of an HTTP header"},
        {"deliver: {headers: {X: \"a\\nb\"}}",
         "4:29: deliver.headers.X: the value has a character that no HTTP header may have"},
        {"deliver: {headers: {X-A: a, x-a: b}}", "4:34: deliver.headers: \"x-a\" stands twice, in different case"},
    });
}

TEST_CASE("a rule of classify is held to its form") {
    check_rows({
        {"classify: {status: 404}", "4:16: classify: a list of rules is due"},
        {"classify: [404]", "4:17: classify: a rule is a mapping"},
        {"classify: [{status: 404}]", "4:17: classify: the rule has no `as`; one of: success, drop"},
        {"classify: [{as: drop}]", "4:17: classify: the rule names nothing to match"},
        {"classify: [{status: 404, as: timeout}]", "4:35: classify.as: \"timeout\" is no outcome that a rule may state"},
        {"classify: [{status: 099, as: drop}]", "4:26: classify.status: \"099\" is no status; 404, 5xx or 500-503"},
        {"classify: [{status: 600, as: drop}]", "4:26: classify.status: \"600\" is no status"},
        {"classify: [{status: 503-500, as: drop}]", "4:26: classify.status: \"503-500\" is no status"},
        {"classify: [{status: \"404\", as: drop}]", "4:26: classify.status: \"404\" in quotes is a string"},
        {"classify: [{status: [], as: drop}]", "4:26: classify.status: the list is empty"},
        {"classify: [{status: 404, as: drop, delay: 1s}]", "4:48: classify.delay: only transient and throttled have a delay"},
        {"classify: [{error_type: \"re:(\", as: drop}]", "4:30: classify.error_type: \"re:(\" is no pattern"},
        {"classify: [{header: x, as: drop}]", "4:26: classify.header: a mapping from header names to patterns is due"},
    });
    std::string rules = "{status: 500, as: transient}";
    for (int i = 1; i < 65; ++i) rules += ", {status: 500, as: transient}";
    CHECK(faults_of(queue_with("classify: [" + rules + "]")) ==
          std::vector<std::string>{"4:16: classify: more than 64 rules; join them: a list in a rule means one of"});
}

TEST_CASE("the consumer's address is held to its form") {
    const auto fault = [](const std::string& deliver) {
        const auto faults = faults_of(broker + "queues: {w: {deliver: {" + deliver + "}}}\n");
        REQUIRE(faults.size() == 1);
        return faults[0];
    };
    CHECK(fault("http: \"https://h\"").find("https is not spoken here") != std::string::npos);
    CHECK(fault("http: \"h:80\"").find("is no address of a consumer") != std::string::npos);
    CHECK(fault("http: \"http://\"").find("it has no host") != std::string::npos);
    CHECK(fault("http: \"http://h:08080\"").find("its port has a leading zero") != std::string::npos);
    CHECK(fault("http: \"http://h:70000\"").find("its port is out of range") != std::string::npos);
    CHECK(fault("http: \"http://u@h\"").find("has a user in it") != std::string::npos);
    CHECK(fault("http: \"http://::1\"").find("an IPv6 address stands without brackets") != std::string::npos);
    CHECK(fault("http: \"http://h/a b\"").find("a character that no request line may have") != std::string::npos);
    CHECK(fault("http: \"http://h/a#b\"").find("a character that no request line may have") != std::string::npos);
    CHECK(fault("http: \"unix:app.sock\"").find("is not absolute") != std::string::npos);
    CHECK(fault("http: \"unix:/" + std::string(107, 'a') + "\"").find("longer than 107 bytes") != std::string::npos);
    CHECK(fault("http: \"http://h/a\", path: /b") ==
          "2:50: deliver.path: deliver.http (line 2) has a path already; keep one of them");
    CHECK(fault("http: \"http://h\", path: b") == "2:48: deliver.path: \"b\": the path does not begin with /; such as /orders");
    CHECK(fault("timeout: 5s") ==
          "2:10: queue \"w\" has no deliver.http and no deliver.stream; http://127.0.0.1:8080/path, or unix:/run/app/app.sock "
          "with path:");
}

TEST_CASE("the stream's address and who may come to it are held to their form") {
    check_rows({
        {"deliver: {http: none, stream: \"/s\"}", "4:36: deliver.stream: \"/s\": is no address of a stream; unix:/run"},
        {"deliver: {http: none, stream: \"unix:s\"}", "4:36: deliver.stream: \"unix:s\": the path of a Unix socket is not"},
        {"deliver: {stream: \"unix:/s\"}",
         "4:24: deliver.stream: deliver.http (line 2) is given too; keep one of them; none takes back"},
        {"deliver: {http: none}", "4:2: queue \"w\" has no deliver.http and no deliver.stream"},
        {"deliver: {stream_access: {mode: 0660}}",
         "4:38: deliver.stream_access.mode: \"0660\" is not in quotes, and some would read it as another number; three"},
        {"deliver: {stream_access: {mode: \"0680\"}}", "4:38: deliver.stream_access.mode: \"0680\" is no mode of a file"},
        {"deliver: {stream_access: {mode: \"1660\"}}", "4:38: deliver.stream_access.mode: \"1660\" is no mode of a file"},
        {"deliver: {stream_access: {mode: \"60\"}}", "4:38: deliver.stream_access.mode: \"60\" is no mode of a file"},
        {"deliver: {stream_access: {owner: \"\"}}", "4:39: deliver.stream_access.owner: it is empty"},
        {"deliver: {stream_access: {uid: app}}", "4:37: deliver.stream_access.uid: \"app\" is not a whole number"},
        {"deliver: {stream_access: {uid: []}}", "4:37: deliver.stream_access.uid: the list is empty"},
        {"deliver: {stream_access: {user: 1}}", "4:32: unknown key \"deliver.stream_access.user\""},
    });
    CHECK(faults_of(broker + "defaults: {deliver: {stream: \"unix:/s\"}}\nqueues: {a: {}, b: {}}\n") ==
          std::vector<std::string>{"2:30: deliver.stream: the socket of \"b\" is that of \"a\" already; one for each queue: "
                                   "unix:/run/retryd/{queue}.sock"});
}

TEST_CASE("the standing gate is held to its form, and stands before http alone") {
    check_rows({
        {"deliver: {ready: healthz}",
         "4:23: deliver.ready: \"healthz\": the path does not begin with /; such as /healthz, or none"},
        {"deliver: {ready: \"/a b\"}", "4:23: deliver.ready: \"/a b\": the path has a character that no request line may have"},
        {"deliver: {ready: true}", "4:23: deliver.ready: \"true\": the path does not begin with /"},
        {"deliver: {ready: [/a]}", "4:23: deliver.ready: a list stands here; one value is due"},
        {"deliver: {ready: {path: a}}", "4:30: deliver.ready.path: \"a\": the path does not begin with /"},
        {"deliver: {ready: {every: 1s}}", "4:23: deliver.ready: no path is named; {path: /healthz}, or none"},
        {"deliver: {ready: {path: /a, every: 2}}", "4:41: deliver.ready.every: \"2\" has no unit"},
        {"deliver: {ready: {path: /a, every: 99ms}}", "4:41: deliver.ready.every: \"99ms\" is under 100ms; 100ms to 1h"},
        {"deliver: {ready: {path: /a, down_after: 0}}", "4:46: deliver.ready.down_after: \"0\" is under 1; 1 to 100"},
        {"deliver: {ready: {path: /a, up_after: 101}}", "4:44: deliver.ready.up_after: \"101\" is over 100; 1 to 100"},
        {"deliver: {ready: {path: /a, evry: 2s}}", "4:34: unknown key \"deliver.ready.evry\"; did you mean every?"},
        {"deliver: {slow_start: 10}", "4:28: deliver.slow_start: \"10\" has no unit"},
        {"deliver: {slow_start: 0s}", "4:28: deliver.slow_start: \"0s\" is under 1ms; 1ms to 1h"},
        {"deliver: {http: none, stream: \"unix:/s\", ready: /a}",
         "4:54: deliver.ready: on deliver.stream (line 4) the consumer dials in, and a session is its readiness; leave it out; "
         "none takes back what stands in defaults or a group"},
    });
    const std::string halves =
        "defaults: {deliver: {http: \"http://c\", ready: {path: /a}}}\ngroups: {g: {queues: [w], deliver: {ready: {every: "
        "1s}}}}\n";
    CHECK(faults_of(broker + halves).empty());
}

TEST_CASE("a fault of defaults is told once, however many queues take it, and also where every queue overrides it") {
    const std::string text = broker + "defaults: {deliver: {http: \"http://c\", timeout: 5}}\nqueues: {a: {}, b: {}, c: {}}\n";
    CHECK(faults_of(text).size() == 1);
    const std::string overridden =
        broker + "defaults: {deliver: {timeout: 5}}\nqueues: {a: {deliver: {http: \"http://c\", timeout: 5s}}}\n";
    CHECK(faults_of(overridden).size() == 1);
    const std::string unused =
        broker + "groups: {g: {queues: [a], history: x}}\nqueues: {a: {deliver: {http: \"http://c\"}, history: 3}}\n";
    CHECK(faults_of(unused).size() == 1);
}

TEST_CASE("every fault of a file is told at once, from top to bottom") {
    const std::vector<std::string> faults =
        faults_of("broker: amqp://h:0\nmemory: 1\nqueues:\n  a: {}\n  b: {deliver: {http: x}}\n");
    REQUIRE(faults.size() == 4);
    CHECK(faults[0].substr(0, 4) == "1:9:");
    CHECK(faults[1].substr(0, 4) == "2:9:");
    CHECK(faults[2].substr(0, 4) == "4:3:");
    CHECK(faults[3].substr(0, 5) == "5:23:");
}

TEST_CASE("queues, groups and names are held together") {
    const std::string d = broker + "defaults: {deliver: {http: \"http://c\"}}\n";
    CHECK(faults_of(d) ==
          std::vector<std::string>{"1:1: no queue is named; queues: {orders: \"http://127.0.0.1:8080/orders\"}"});
    CHECK(faults_of("queues: {w: \"http://c\"}\n") ==
          std::vector<std::string>{"1:1: the broker's uri is missing; broker: amqp://guest:guest@127.0.0.1:5672/"});
    CHECK(faults_of(d + "groups: {g: {queues: [a]}, h: {queues: [a]}}\n") ==
          std::vector<std::string>{"3:41: queue \"a\" is in group \"h\" and in group \"g\"; a queue belongs to one group"});
    CHECK(faults_of(d + "groups: {g: {queues: [a, a]}}\n") ==
          std::vector<std::string>{"3:26: queue \"a\" is in group \"g\" twice; a queue belongs to one group"});
    CHECK(faults_of(d + "groups: {g: {history: 3}}\nqueues: {a: {}}\n") ==
          std::vector<std::string>{"3:10: group \"g\" names no queues; queues: [NAME, ...]"});
    CHECK(faults_of(d + "queues: {orders: {}, retryd.orders.parked: {}}\n") ==
          std::vector<std::string>{"3:22: queue \"retryd.orders.parked\" has the name of the parking lot of \"orders\"; "
                                   "another names.prefix, or another queue"});
    CHECK(faults_of(d + "queues: {\"a\\nb\": {}}\n") ==
          std::vector<std::string>{"3:10: the name of a queue has a control character; printable characters only"});
    CHECK(faults_of(d + "queues: {" + std::string(224, 'q') + ": {}}\n").size() == 1);
    CHECK(faults_of(d + "queues: {" + std::string(222, 'q') + ": {}}\n").empty());
    CHECK(faults_of(d + "queues: {a: {}, a: {}}\n") ==
          std::vector<std::string>{"3:17: \"a\" stands here a second time, the first is in line 3; keep one of them"});
    CHECK(faults_of(d + "max_body: 512MiB\nqueues: {a: {}}\n").size() == 1);
}

TEST_CASE("a policy has at most a thousand queues") {
    std::string text = broker + "defaults: {deliver: {http: \"http://c\"}}\nqueues:\n";
    for (int i = 0; i < 1000; ++i) text += "  q" + std::to_string(i) + ": {}\n";
    CHECK(faults_of(text).empty());
    CHECK(faults_of(text + "  one.more: {}\n") ==
          std::vector<std::string>{"1:1: more than 1000 queues; another file, for another daemon"});
}
