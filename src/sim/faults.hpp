#pragma once
// Seeded misfortune: for a while, at random moments, something breaks; then everything is mended for good.
//
//   FaultScript faults(world, Chance(seed), {.mean_pause = 200ms});
//   faults.run_for(1min);  // schedules; the caller runs the time

#include "sim/world.hpp"

#include <string>
#include <vector>

namespace retryd::sim {

enum class Fault : std::uint8_t {
    cut_consume_link,
    cut_publish_link,
    broker_restarts,
    confirm_is_lost,
    copy_is_nacked,
    copy_is_nacked_but_kept,
    copy_is_returned,
    alarm,
    channel_is_closed,
    empty_queue_is_deleted,
    consumer_restarts,
    daemon_dies,
};
inline constexpr std::size_t fault_count = 12;
[[nodiscard]] std::string to_text(Fault fault);

struct FaultPlan {
    model::Microseconds mean_pause = 200ms;   // between two of them
    model::Microseconds longest_outage = 5s;  // of what stays broken for a while
};

class FaultScript {
public:
    FaultScript(World& world, Chance chance, FaultPlan plan) : world_(world), chance_(chance), plan_(plan) {}
    // The script must live as long as the world is run.
    void run_for(model::Microseconds span);
    [[nodiscard]] const std::vector<Fault>& happened() const { return happened_; }

private:
    void next();
    void strike(Fault fault);
    void mend();
    void later(VirtualTime::Action action);
    void delete_an_empty_queue();
    void close_a_channel();
    [[nodiscard]] model::QueueId some_queue();

    World& world_;
    Chance chance_;
    FaultPlan plan_;
    model::SteadyTime end_{};
    std::vector<Fault> happened_;
};

}  // namespace retryd::sim
