#include "admin/top_text.hpp"

#include "admin/columns.hpp"
#include "admin/wording.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <vector>

namespace retryd::admin {
namespace {

using model::Outcome;
using model::QueueView;

// Outcomes a second.
struct Rates {
    std::string done, failed, held;
};

class Interval {
public:
    Interval(const model::StatusView& before, const model::StatusView& now)
        : before_(before), seconds_(std::chrono::duration<double>(now.at - before.at).count()) {}

    [[nodiscard]] Rates of(const QueueView& queue) const {
        return {rate(queue, {Outcome::success, Outcome::drop}),
                rate(queue, {Outcome::transient, Outcome::timeout, Outcome::lost, Outcome::permanent}),
                rate(queue, {Outcome::throttled, Outcome::endpoint, Outcome::unavailable})};
    }

private:
    [[nodiscard]] std::string rate(const QueueView& queue, std::initializer_list<Outcome> outcomes) const {
        const auto earlier = std::find_if(before_.queues.begin(), before_.queues.end(),
                                          [&](const QueueView& one) { return one.name == queue.name; });
        if (earlier == before_.queues.end() || seconds_ <= 0) return "-";
        std::uint64_t more = 0;
        for (const Outcome outcome : outcomes) {
            const auto i = static_cast<std::size_t>(outcome);
            more += queue.deliveries[i] - std::min(queue.deliveries[i], earlier->deliveries[i]);  // a restart begins at 0
        }
        return count_text(static_cast<std::uint64_t>(static_cast<double>(more) / seconds_ + 0.5));
    }

    const model::StatusView& before_;
    double seconds_;
};

std::string depth(const QueueView& queue, std::initializer_list<std::string_view> kinds) {
    if (queue.depths.empty()) return "-";
    std::uint64_t sum = 0;
    for (const auto& one : queue.depths)
        sum += std::find(kinds.begin(), kinds.end(), one.kind) == kinds.end() ? 0 : one.messages;
    return count_text(sum);
}

std::string slots(const QueueView& queue) {
    return count_text(queue.in_flight) + "/" + count_text(queue.concurrency);
}

constexpr std::size_t first_number = 2;

Row heading() {
    return {"QUEUE", "STATE", "DONE/S", "FAIL/S", "HELD/S", "FLIGHT", "HAND", "WORK", "LANE", "WAIT", "PARKED", "DLQ"};
}

Row row_of(const QueueView& queue, const Rates& rates) {
    return {queue.name.value,
            queue.state,
            rates.done,
            rates.failed,
            rates.held,
            slots(queue),
            count_text(queue.in_hand),
            depth(queue, {"work"}),
            depth(queue, {"lane"}),
            depth(queue, {"delay", "hold"}),
            depth(queue, {"parked"}),
            depth(queue, {"dlq"})};
}

}  // namespace

std::string top_table(const model::StatusView& before, const model::StatusView& now) {
    const Interval interval{before, now};
    std::vector<Row> rows{heading()};
    for (const auto& queue : now.queues) rows.push_back(row_of(queue, interval.of(queue)));
    const std::string state = now.drained ? ", drained" : now.draining ? ", draining" : "";
    return "retryd " + now.version + "  " + time_text(now.at) + state + "\n\n" + set_table(rows, first_number);
}

std::string top_lines(const model::StatusView& before, const model::StatusView& now) {
    const Interval interval{before, now};
    std::string text;
    for (const auto& queue : now.queues) {
        const Rates rates = interval.of(queue);
        text += time_text(now.at) + " " + queue.name.value + " " + queue.state + " done/s=" + rates.done +
                " fail/s=" + rates.failed + " held/s=" + rates.held + " flight=" + slots(queue) +
                " work=" + depth(queue, {"work"}) + " lane=" + depth(queue, {"lane"}) +
                " wait=" + depth(queue, {"delay", "hold"}) + " parked=" + depth(queue, {"parked"}) +
                " dlq=" + depth(queue, {"dlq"}) + "\n";
    }
    return text;
}

}  // namespace retryd::admin
