#pragma once
// The log as the engine sees it: events with fields. Escaping, format and levels are the writer's business (app/).
//
//   journal.record({LogLevel::info, "parked", {{"queue", name}, {"reason", "exhausted"}}});

#include "model/policy.hpp"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace retryd::ports {

struct LogEvent {
    model::LogLevel level = model::LogLevel::info;
    std::string_view event;                                        // a constant of the glossary
    std::vector<std::pair<std::string_view, std::string>> fields;  // values may come from a message: anything goes
};

class Journal {
public:
    virtual ~Journal() = default;
    virtual void record(const LogEvent& event) = 0;
    // Whether records of this level are kept: ask before building costly fields.
    [[nodiscard]] virtual bool keeps(model::LogLevel level) const = 0;
};

}  // namespace retryd::ports
