#pragma once
// Counts what a consumer of the benchmark handles, and measures from the first message to the last: the time, and the
// processor time (user and system, all threads) of this process and of those that it is told to watch.
//
// Options: --count N         done after so many
//          --watch PID,PID   whose processor time is measured beside
//          --records FILE    what note() was told: three native 64-bit integers each, number, bytes and nanoseconds
//
// Protocol: began() at each message, or once; handled() or note() for each that is done with; when complete(), print().

#include "programs/options.hpp"

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace retryd::bench {

class Tally {
public:
    explicit Tally(const Options& options);

    void began() {
        if (!begin_) begin_ = look();
    }
    void handled();
    // The same, and its span is kept for the records.
    void note(std::uint64_t number, std::size_t bytes, std::chrono::nanoseconds span);
    [[nodiscard]] bool complete() const { return handled_ >= wanted_; }
    // One line of JSON: {"count":60000,"seconds":0.81,"cpu":{"self":0.2,"4711":1.1}}, seconds all. Waits a moment before it
    // looks at the processor time: what others still do for the last messages belongs to them.
    void print();

private:
    struct Look {
        std::chrono::nanoseconds at{};
        std::map<std::string, double> cpu;  // seconds, by "self" or pid
    };
    struct Record {
        std::uint64_t number, bytes;
        std::int64_t nanoseconds;
    };

    [[nodiscard]] Look look() const;
    void write_records() const;

    std::uint64_t wanted_;
    std::vector<std::string> watched_;
    std::string records_file_;  // empty: none
    std::vector<Record> records_;
    std::uint64_t handled_ = 0;
    std::optional<Look> begin_;
    std::chrono::nanoseconds end_{};
};

}  // namespace retryd::bench
