#pragma once
// Why a queue does not flow, or flows slower than it could: each cause with since when and what would heal it, in sentences.

#include "model/status.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace retryd::admin {

struct Hindrance {
    std::string cause;  // as in /flowz; for what only slows: "busy", "slow-start", "credit", "copies"
    bool stops = true;  // false: it flows, but slower than it could
    std::optional<model::Milliseconds> lasting;
    std::string what;  // sentences
    std::string heals;
};

struct WhyNot {
    model::QueueName queue;
    model::WallTime at;
    std::string summary;  // a sentence
    std::vector<Hindrance> hindrances;
    std::string figures;  // sentences
};

[[nodiscard]] WhyNot why_not(const model::QueueView& queue, model::WallTime at);

// What heals a cause; never empty.
[[nodiscard]] std::string_view healing(model::Cause cause);

[[nodiscard]] std::string to_text(const WhyNot& answer);  // lines of at most 100 columns
// {"queue", "at_ms", "flows", "summary", "figures", "causes": [{"cause", "stops", "since_ms", "lasting_ms", "what", "heals"}], "text"}
[[nodiscard]] std::string to_json(const WhyNot& answer);

}  // namespace retryd::admin
