#include "model/outcome.hpp"

#include <array>
#include <cstdlib>

namespace retryd::model {

std::string_view to_text(Outcome outcome) {
    switch (outcome) {
        case Outcome::success: return "success";
        case Outcome::drop: return "drop";
        case Outcome::transient: return "transient";
        case Outcome::permanent: return "permanent";
        case Outcome::throttled: return "throttled";
        case Outcome::endpoint: return "endpoint";
        case Outcome::timeout: return "timeout";
        case Outcome::lost: return "lost";
        case Outcome::unavailable: return "unavailable";
    }
    std::abort();  // a value outside the enum: memory is broken
}

std::optional<Outcome> stated_outcome(std::string_view text) {
    constexpr std::array stated{Outcome::success,   Outcome::drop,      Outcome::transient,
                                Outcome::permanent, Outcome::throttled, Outcome::endpoint};
    for (const Outcome outcome : stated) {
        if (to_text(outcome) == text) return outcome;
    }
    return std::nullopt;
}

std::string_view to_text(Reason reason) {
    switch (reason) {
        case Reason::exhausted: return "exhausted";
        case Reason::permanent: return "permanent";
        case Reason::age: return "age";
        case Reason::held: return "held";
        case Reason::expired: return "expired";
        case Reason::poison: return "poison";
    }
    std::abort();
}

}  // namespace retryd::model
