#include "model/order.hpp"

#include <cstdlib>

namespace retryd::model {

std::string_view to_text(Order::Act act) {
    switch (act) {
        case Order::Act::open: return "open";
        case Order::Act::close: return "close";
        case Order::Act::disable: return "disable";
        case Order::Act::reset: return "reset";
        case Order::Act::pause: return "pause";
        case Order::Act::throttle: return "throttle";
        case Order::Act::resume: return "resume";
    }
    std::abort();
}

}  // namespace retryd::model
