#pragma once
// Keeps a storm out of the log: of equal lines one in each interval is written (or a few), the rest is counted and summed up
// in one.
//
//   if (limiter.admit("orders retry", "DbTimeout 3f2a", now)) write(line);
//   …
//   if (now >= limiter.next()) if (auto sum = limiter.take_sum(now)) write(*sum);
//
// What is equal is the caller's business: the same kind and detail. Bounded: a kind with ever new details gets one line for
// all beyond `most_details`, so that it does not mute the others.

#include "model/time.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace retryd::engine {

class LineLimiter {
public:
    static constexpr model::Milliseconds interval = std::chrono::seconds{10};
    static constexpr std::size_t most_details = 40;
    static constexpr std::size_t most_keys = 4000;
    static constexpr std::size_t most_named = 5;

    // Whether such a line may be written now; else it is counted. `most`: of equal lines in each interval.
    [[nodiscard]] bool admit(const std::string& kind, const std::string& detail, model::SteadyTime now, std::uint32_t most = 1);

    struct Sum {
        std::uint64_t lines = 0;                                  // counted, not written
        std::size_t keys = 0;                                     // different ones among them, up to most_keys
        std::vector<std::pair<std::string, std::uint64_t>> most;  // the most frequent, by count
    };
    // When something counted is due to be summed up; SteadyTime::max() while nothing is.
    [[nodiscard]] model::SteadyTime next() const { return sum_due_; }
    // What was counted since the last sum; nothing before its time.
    [[nodiscard]] std::optional<Sum> take_sum(model::SteadyTime now);
    // The same at the end, when nobody will ask again; nothing where nothing was counted.
    [[nodiscard]] std::optional<Sum> take_rest();

private:
    struct Seen {
        model::SteadyTime written;  // the first of the interval
        std::uint64_t counted = 0;
        std::uint32_t lines = 1;  // written in the interval
    };
    [[nodiscard]] bool admit_key(const std::string& key, model::SteadyTime now, std::uint32_t most);
    void count(std::uint64_t& counter, model::SteadyTime now);

    std::unordered_map<std::string, Seen> seen_;
    std::unordered_map<std::string, std::set<std::string>> details_;  // of each kind, in this interval
    model::SteadyTime details_until_{};
    std::uint64_t beyond_ = 0;  // lines that found no place among the keys
    model::SteadyTime sum_due_ = model::SteadyTime::max();
};

}  // namespace retryd::engine
