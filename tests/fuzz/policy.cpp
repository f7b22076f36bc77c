// A policy file: there is a policy or there are problems, each in one line, and no secret is in any text about it.

#include "fuzz/input.hpp"
#include "model/utf8.hpp"
#include "policyfile/policyfile.hpp"

#include <algorithm>

using namespace retryd;
using fuzz::require;

namespace {

constexpr std::string_view secret = "Zq7#secret";

policyfile::Environment environment() {
    policyfile::Environment made;
    made.variable = [](const std::string& name) -> std::optional<std::string> {
        if (name.starts_with("S")) return std::string(secret);
        return std::nullopt;
    };
    made.file = [](const std::string& path, std::size_t) -> model::Result<std::string> {
        if (path.starts_with("/s")) return std::string(secret) + "\n";
        return model::Problem{model::ProblemCode::system, "", "No such file or directory", ""};
    };
    return made;
}

void check(const std::vector<model::Problem>& problems) {
    for (const auto& problem : problems) {
        const auto text = to_text(problem);
        require(text.find(secret) == std::string::npos, "no problem holds a secret");
        const bool one_line = std::none_of(text.begin(), text.end(), [](char c) { return (c >= 0 && c < 0x20) || c == 0x7f; });
        require(one_line, "a problem is one line");
        require(!problem.what.empty() && problem.place.starts_with("p.yaml:"), "a problem says what and where");
    }
}

void check(const model::Policy& policy) {
    require(!policy.queues.empty() && !policy.broker.addresses.empty() && !policy.hash.empty(), "a policy is complete");
    for (const auto& queue : policy.queues) {
        require(!queue.name.value.empty() && queue.name.value.size() <= 255 && queue.lane.value.size() <= 255, "names fit");
        require(queue.deliver.timeout.count() > 0 && queue.deliver.concurrency >= 1, "a delivery has its time and place");
        require(queue.deliver.concurrency <= 10'000 && queue.prefetch >= 1 && queue.prefetch <= 65'535, "numbers are in range");
        require(queue.classify.size() <= model::max_classify_rules, "rules fit a mask");
        for (const auto delay : queue.retry.delays)
            require(delay >= std::chrono::milliseconds{50} && delay <= std::chrono::days{7}, "a delay is one that a queue has");
        require(std::is_sorted(queue.hold.delays.begin(), queue.hold.delays.end()), "the hold ladder rises");
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto text = fuzz::Input(data, size).rest();
    if (text.find("Zq7") != std::string_view::npos) return 0;  // whoever writes it down himself
    const auto loaded = policyfile::load_text(text, "p.yaml", environment());
    require(loaded.policy.has_value() == loaded.problems.empty(), "a policy or problems");
    check(loaded.problems);
    check(loaded.warnings);
    if (!loaded.policy) return 0;
    check(*loaded.policy);
    for (const auto& queue : loaded.policy->queues) {
        const auto values = policyfile::effective_values_of_text(text, "p.yaml", queue.name.value, environment());
        require(values.has_value(), "every queue has its values");
        for (const auto& value : *values) require(value.value.find(secret) == std::string::npos, "no value shows a secret");
    }
    return 0;
}
