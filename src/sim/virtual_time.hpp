#pragma once
// Virtual time: one clock and one heap of what is due. Time moves only from one action to the next.
//
//   time.after(5ms, [&] { … });
//   time.run_until([&] { return settled; }, 1h);
//
// Steady and wall time advance together; a test may step the wall. What an action refers to must outlive it or see for
// itself that it is stale: nothing is ever taken out of the heap.

#include "model/time.hpp"

#include <cstdint>
#include <functional>
#include <vector>

namespace retryd::sim {

class VirtualTime {
public:
    using Action = std::function<void()>;

    [[nodiscard]] model::Clock now() const { return {steady_, wall_start_ + elapsed()}; }
    // What concerns no message is chatter: only for whoever tries all orders, and leaves out those that make no difference.
    enum class Matter : std::uint8_t { message, chatter };
    // A time that has passed means: next. Actions of one time run in the order in which they were given.
    void at(model::SteadyTime when, Action action, Matter matter = Matter::message);
    void after(model::Microseconds wait, Action action, Matter matter = Matter::message) {
        at(steady_ + wait, std::move(action), matter);
    }

    // Runs until `done` holds (asked before the first action and after each); false: it never did within `limit`, which has
    // then passed.
    bool run_until(const std::function<bool()>& done, model::Microseconds limit);
    void run_for(model::Microseconds span);

    // For whoever tries all orders: how many actions are due within `window` from now, and running the n-th of all now, before
    // those that were due earlier. They run afterwards, late. False: so many are not left.
    [[nodiscard]] std::size_t due_within(model::Microseconds window) const;
    bool run_nth(std::size_t n);
    // Runs the first chatter that is due within `window`; false: there is none.
    bool run_chatter(model::Microseconds window);
    void step_wall(model::Milliseconds by) { wall_start_ += by; }

private:
    struct Due {
        model::SteadyTime when;
        std::uint64_t sequence;
        Action action;
        Matter matter;
    };
    static bool later(const Due& a, const Due& b);
    [[nodiscard]] model::Milliseconds elapsed() const;
    bool run_next(model::SteadyTime end);
    void run_late(std::vector<Due>::iterator chosen);

    std::vector<Due> heap_;
    std::uint64_t sequence_ = 0;
    model::SteadyTime steady_{};
    model::WallTime wall_start_{model::Milliseconds{1'700'000'000'000}};
};

}  // namespace retryd::sim
