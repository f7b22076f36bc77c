#pragma once
// Points in time and spans of it. The two clocks have no now(): time is handed in as an argument.
//
// Steady time measures intervals and never jumps; wall time is what is written into headers and logs.

#include <chrono>
#include <cstdint>

namespace retryd::model {

using Milliseconds = std::chrono::milliseconds;
using Microseconds = std::chrono::microseconds;

struct SteadyDomain {
    using duration = Microseconds;
    using rep = duration::rep;
    using period = duration::period;
    using time_point = std::chrono::time_point<SteadyDomain, duration>;
    static constexpr bool is_steady = true;
};
struct WallDomain {
    using duration = Milliseconds;
    using rep = duration::rep;
    using period = duration::period;
    using time_point = std::chrono::time_point<WallDomain, duration>;
    static constexpr bool is_steady = false;
};

using SteadyTime = SteadyDomain::time_point;  // since an arbitrary start
using WallTime = WallDomain::time_point;      // since 1970-01-01T00:00:00Z

struct Clock {
    SteadyTime steady;
    WallTime wall;
};

}  // namespace retryd::model
