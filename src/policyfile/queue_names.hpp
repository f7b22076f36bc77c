#pragma once
// Names of queues: which are fit, and which are retryd's own.

#include "model/policy.hpp"
#include "model/problem.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace retryd::policyfile {

// What keeps a text from being a queue's name (they become labels and log fields: printable only).
[[nodiscard]] std::optional<model::Problem> queue_name_trouble(std::string_view name);

// The names that retryd gives to its queues, for every queue of a policy.
class OwnNames {
public:
    explicit OwnNames(std::string prefix) : prefix_(std::move(prefix)) {}
    // Fills the policy's name, lane, lots and tier prefix, and remembers them.
    void give(const std::string& queue, model::QueuePolicy& policy);
    // "the return lane of \"orders\"", for lanes, lots and tiers; nothing for any other name.
    [[nodiscard]] std::optional<std::string> meaning(const std::string& name) const;
    [[nodiscard]] bool is_lot(const std::string& name) const;
    // The longest name that it may give for `queue`.
    [[nodiscard]] std::size_t longest(const std::string& queue) const;

private:
    std::string prefix_;
    std::map<std::string, std::string> plain_;  // lanes and lots
    std::map<std::string, std::string> tiers_;  // the queue of each tier prefix
};

}  // namespace retryd::policyfile
