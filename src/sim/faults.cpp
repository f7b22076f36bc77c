#include "sim/faults.hpp"

namespace retryd::sim {

using Mischief = ModelBroker::Mischief;
using ports::Link;

std::string to_text(Fault fault) {
    switch (fault) {
        case Fault::cut_consume_link: return "cut_consume_link";
        case Fault::cut_publish_link: return "cut_publish_link";
        case Fault::broker_restarts: return "broker_restarts";
        case Fault::confirm_is_lost: return "confirm_is_lost";
        case Fault::copy_is_nacked: return "copy_is_nacked";
        case Fault::copy_is_nacked_but_kept: return "copy_is_nacked_but_kept";
        case Fault::copy_is_returned: return "copy_is_returned";
        case Fault::alarm: return "alarm";
        case Fault::channel_is_closed: return "channel_is_closed";
        case Fault::empty_queue_is_deleted: return "empty_queue_is_deleted";
        case Fault::consumer_restarts: return "consumer_restarts";
        case Fault::daemon_dies: return "daemon_dies";
    }
    return {};
}

void FaultScript::run_for(model::Microseconds span) {
    end_ = world_.time().now().steady + span;
    next();
}

void FaultScript::next() {
    world_.time().after(chance_.between(0us, plan_.mean_pause * 2), [this] {
        if (world_.time().now().steady >= end_) return mend();
        const auto fault = static_cast<Fault>(chance_.below(fault_count));
        happened_.push_back(fault);
        strike(fault);
        next();
    });
}

void FaultScript::later(VirtualTime::Action action) {
    world_.time().after(chance_.between(1ms, plan_.longest_outage), std::move(action));
}

void FaultScript::strike(Fault fault) {
    auto& broker = world_.broker();
    switch (fault) {
        case Fault::cut_consume_link: return broker.cut(Link::consume);
        case Fault::cut_publish_link: return broker.cut(Link::publish);
        case Fault::broker_restarts: broker.run(false); return later([&broker] { broker.run(true); });
        case Fault::confirm_is_lost: return broker.next_copy(Mischief::swallow_confirm);
        case Fault::copy_is_nacked: return broker.next_copy(Mischief::nack);
        case Fault::copy_is_nacked_but_kept: return broker.next_copy(Mischief::nack_but_keep);
        case Fault::copy_is_returned: return broker.next_copy(Mischief::give_back_as_unroutable);
        case Fault::alarm: broker.block_publishing(true); return later([&broker] { broker.block_publishing(false); });
        case Fault::channel_is_closed: return close_a_channel();
        case Fault::empty_queue_is_deleted: return delete_an_empty_queue();
        case Fault::consumer_restarts: {
            const auto queue = some_queue();
            world_.consumer().go_away(queue);
            return later([this, queue] { world_.consumer().come_back(queue); });
        }
        case Fault::daemon_dies: return world_.crash();
    }
}

void FaultScript::mend() {
    world_.broker().run(true);
    world_.broker().block_publishing(false);
    world_.broker().next_copy(std::nullopt);
    for (std::uint32_t id = 0; id < world_.policy().queues.size(); ++id) world_.consumer().come_back({id});
}

model::QueueId FaultScript::some_queue() {
    return {static_cast<std::uint32_t>(chance_.below(world_.policy().queues.size()))};
}

void FaultScript::close_a_channel() {
    const auto side = chance_.one_in(2) ? model::Side::work : model::Side::lane;
    world_.broker().close_source({some_queue(), side}, 406, "PRECONDITION_FAILED - delivery acknowledgement timed out");
}

// Only one of the daemon's own: a tier, a lane or a lot.
void FaultScript::delete_an_empty_queue() {
    const auto queues = world_.broker().queues();
    const auto& chosen = queues[chance_.below(queues.size())];
    for (const auto& queue : world_.policy().queues)
        if (queue.name == chosen) return;
    if (world_.broker().is_empty(chosen)) world_.broker().remove(chosen);
}

}  // namespace retryd::sim
