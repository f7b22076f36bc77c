#pragma once
// Writes the log: one line for each event, as JSON or as text, that nothing in a message can forge or break.
//
//   {"ts":"2026-11-30T12:00:01.123Z","level":"info","event":"parked","queue":"orders","reason":"exhausted"}
//   12:00:01.123 info  parked queue=orders reason=exhausted
//
// Main loop only.

#include "model/policy.hpp"
#include "model/time.hpp"
#include "ports/journal.hpp"

#include <cstdint>
#include <string>

namespace retryd::app {

// The event as one line with its line feed. Text values that are more than a plain word are quoted as in JSON; control
// characters, line breaks, what turns the direction of text, and bytes that are not UTF-8 never appear. `automatic` is no format of a line.
[[nodiscard]] std::string format_line(const ports::LogEvent& event, model::WallTime at, model::LogFormat format);

class DescriptorJournal final : public ports::Journal {
public:
    // `descriptor` (standard error, mostly) stays the caller's; `automatic` means text on a terminal, else JSON.
    DescriptorJournal(int descriptor, model::LogLevel least, model::LogFormat format);

    // One write for each line. A line that the descriptor does not take is counted and named in the next one that it takes:
    // a log that nobody reads never stops the daemon. SIGPIPE is ignored by the process.
    void record(const ports::LogEvent& event) override;
    [[nodiscard]] bool keeps(model::LogLevel level) const override { return level >= least_; }

private:
    void write(std::string line);

    int descriptor_;
    model::LogLevel least_;
    model::LogFormat format_;
    std::uint64_t lost_ = 0;
    bool torn_ = false;  // the last line was taken in part
};

}  // namespace retryd::app
