#include "model/guards.hpp"

#include <cstdlib>

namespace retryd::model {

std::string_view to_text(BreakerState state) {
    switch (state) {
        case BreakerState::closed: return "closed";
        case BreakerState::open: return "open";
        case BreakerState::half_open: return "half-open";
        case BreakerState::forced_open: return "forced-open";
        case BreakerState::forced_closed: return "forced-closed";
        case BreakerState::disabled: return "disabled";
    }
    std::abort();  // a value outside the enum: memory is broken
}

std::string_view to_text(StormState state) {
    switch (state) {
        case StormState::calm: return "calm";
        case StormState::spike: return "spike";
        case StormState::watch: return "watch";
        case StormState::storm: return "storm";
    }
    std::abort();
}

}  // namespace retryd::model
