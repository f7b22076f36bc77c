#include "unit/policyfile/policy_text.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>

using namespace retryd;
using namespace retryd::policyfile;

namespace {

void check_fault(const std::string& text, const std::string& fault) {
    const std::vector<std::string> faults = faults_of(text);
    INFO(text.substr(0, 200));
    for (const std::string& line : faults) UNSCOPED_INFO(line);
    CHECK(std::any_of(faults.begin(), faults.end(), [&](const std::string& line) { return line.starts_with(fault); }));
}

}  // namespace

TEST_CASE("a text that is no policy is refused with its place") {
    check_fault("", "1:1: the file holds no policy");
    check_fault("# only words\n\n", "1:1: the file holds no policy");
    check_fault("- a\n", "1:1: the file is not a mapping of keys");
    check_fault("broker\n", "1:1: the file is not a mapping of keys");
    check_fault("a: 1\n---\nb: 2\n", "2:1: a second document begins here");
    check_fault("broker: {uri: x", "1:9: not readable as YAML: a { is not closed");
    check_fault("broker: \"amqp", "1:14: not readable as YAML: a quote is not closed");
    check_fault("broker: \"x\\", "1:13: not readable as YAML: unknown escape character: ?");
    check_fault("broker: amqp://h\nqueues: a: b\n", "2:10: not readable as YAML: a second \": \" on one line");
    check_fault("broker: \xff\n", "1:9: a byte that is not UTF-8");
    check_fault("# \xc3\xa4\n# \xed\xa0\x80\n", "2:3: a byte that is not UTF-8");
    check_fault(std::string("a: b\0c\n", 7), "1:5: a control character");
    check_fault("a: b\x04\nc: d\n", "1:5: a control character");
    check_fault(std::string(1024 * 1024 + 1, '#'), "1:1: the file is larger than 1 MiB");
    check_fault("a: " + std::string(100000, '['), "1:20: nested deeper than 32 levels");
}

TEST_CASE("what YAML would take in silence is refused") {
    const std::string rest = "\nqueues: {w: \"http://c\"}\n";
    check_fault("broker: amqp://a\nbroker: amqp://b" + rest,
                "2:1: \"broker\" stands here a second time, the first is in line 1");
    check_fault("broker: ~" + rest, "1:1: \"broker\" has no value");
    check_fault("broker:" + rest, "1:1: \"broker\" has no value");
    check_fault("broker: {uri: null}" + rest, "1:10: \"uri\" has no value");
    check_fault("broker: &a amqp://a" + rest, "1:9: YAML anchors are not read");
    check_fault("broker: !!str amqp://a" + rest, "1:9: YAML tags are not read");
    check_fault("x: &a [1]\nbroker: *a" + rest, "1:1: unknown key \"x\"");
    check_fault("broker: amqp://a\n<<: {memory: 1GiB}" + rest, "2:1: YAML merge keys are not read");
    check_fault("broker: amqp://a\n? [a]\n: b" + rest, "2:3: a key that is a list or a mapping");
    CHECK(faults_of("broker: \"amqp://h/~\"" + rest).empty());
}

TEST_CASE("what stands twice is told with both lines, however deep it stands") {
    const std::string d = "broker: amqp://a\ndefaults: {deliver: {http: \"http://c\"}}\n";
    check_fault(d + "queues:\n  w:\n    retry:\n      max: 3\n      max: 10\n",
                "7:7: \"max\" stands here a second time, the first is in line 6");
    check_fault(d + "queues:\n  w: {}\n  v: {}\n  w: {history: 3}\n",
                "6:3: \"w\" stands here a second time, the first is in line 4");
    check_fault(d + "queues:\n  no: {}\n  'no': {}\n", "5:3: \"no\" stands here a second time, the first is in line 4");
    check_fault(d + "queues: {w: {classify: [{status: 404, as: drop,\n  as: permanent}]}}\n",
                "4:3: \"as\" stands here a second time, the first is in line 3");
    check_fault(d + "groups: {g: {queues: [a]}, g: {queues: [b]}}\n",
                "3:28: \"g\" stands here a second time, the first is in line 3");
}

TEST_CASE("torn and twisted files are refused or read, never more than that") {
    const std::string seed_text =
        "broker: {uri: [\"amqp://u:p@h:1/v\", amqp://h], heartbeat: 20s}\ndefaults:\n  deliver: {http: \"http://c:80/x?y\", "
        "headers: {X: \"$${env:A}\"}}\n"
        "groups:\n  g: {queues: [a, b], retry: {delays: {base: 1s, steps: 3}, quick: none}}\nqueues:\n"
        "  orders:\n    classify:\n      - {status: [404, 5xx], error_type: [\"re:a+\", \"b*\"], as: permanent}\n"
        "    to: {age: {queue: \"x.{queue}\"}}\n  b: 'http://d'\n  c: |\n    http://e\n";
    static constexpr std::string_view bits = "{}[]:,-?&*!|>'\"%@`#~$\n\t \\x0aé<=";
    std::mt19937 chance(20260214);
    for (int round = 0; round < 3000; ++round) {
        std::string text = seed_text;
        for (auto changes = 1 + chance() % 6; changes > 0; --changes) {
            const std::size_t at = chance() % text.size();
            const std::size_t length = 1 + chance() % 12;
            switch (chance() % 4) {
                case 0: text.erase(at, length); break;
                case 1: text.insert(at, 1, bits[chance() % bits.size()]); break;
                case 2: text.insert(at, text.substr(chance() % text.size(), length)); break;
                default: text[at] = static_cast<char>(chance() % 256); break;
            }
            if (text.empty()) text = "a";
        }
        const Loaded loaded = load(text);
        REQUIRE(loaded.policy.has_value() == loaded.problems.empty());
    }
    for (std::size_t end = 0; end < seed_text.size(); ++end) {
        const Loaded loaded = load(seed_text.substr(0, end));
        REQUIRE(loaded.policy.has_value() == loaded.problems.empty());
    }
}

TEST_CASE("whatever stands in the file, a fault is one line of text") {
    for (const std::string& line : faults_of("broker: amqp://h\nqueues: {\"a\\n\u202E\u0085\": {retry: {max: -1}}}\n")) {
        INFO(line);
        CHECK(line.find_first_of("\n\r") == std::string::npos);
        CHECK(line.find("\u202E") == std::string::npos);
        CHECK(line.find("\u0085") == std::string::npos);
    }
}
