#include "admin/status_text.hpp"

#include "admin/columns.hpp"
#include "admin/wording.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

namespace retryd::admin {
namespace {

constexpr std::string_view margin = "  ";

std::string entry(const Row& pieces) {
    return wrapped(pieces, margin.size(), 2 * margin.size());
}

bool all_is_well(const model::StatusView& status) {
    return status.ready && !status.draining &&
           std::all_of(status.queues.begin(), status.queues.end(), [](const auto& queue) { return queue.stalls.empty(); });
}

std::string headline(const model::StatusView& status) {
    std::string line = "retryd " + status.version;
    if (status.drained) {
        line += " is drained, waiting to be stopped";
    } else if (status.draining) {
        line += " is draining";
    } else if (!status.ready) {
        line += " is starting";
    } else {
        line += all_is_well(status) ? ": every queue flows" : " is held up";
    }
    return line + "\n";
}

std::string link_state(const model::LinkView& link) {
    if (!link.up) return link.trouble.empty() ? "down" : "down (" + link.trouble + ")";
    if (link.blocked) return link.trouble.empty() ? "blocked by the broker" : "blocked by the broker (" + link.trouble + ")";
    return "up";
}

// One line where both links say the same, else one for each.
std::string broker_lines(const model::StatusView& status) {
    const std::string version = status.broker_version.empty() ? "" : ", RabbitMQ " + status.broker_version;
    std::string lines;
    for (const model::LinkView& link : status.links) {
        const bool alike = std::all_of(status.links.begin(), status.links.end(), [&](const model::LinkView& other) {
            return link_state(other) == link_state(link) && other.address == link.address;
        });
        const std::string what = alike ? "both links" : link.name + " link";
        lines += wrapped(words_of("broker  " + link.address + version + ", " + what + " " + link_state(link)), 0, 8);
        if (alike) break;
    }
    return lines;
}

// "-": the broker has not been asked yet.
std::string depth(const model::QueueView& queue, std::string_view kind) {
    if (queue.depths.empty()) return "-";
    std::uint64_t sum = 0;
    for (const model::DepthView& one : queue.depths) sum += one.kind == kind ? one.messages : 0;
    return count_text(sum);
}

Row heading() {
    return {"QUEUE", "STATE", "HAND", "FLIGHT", "WAIT", "WORK", "LANE", "DELAY", "HOLD", "PARKED", "DLQ"};
}
constexpr std::size_t first_number = 2;  // queue and state stand to the left, numbers to the right

Row row_of(const model::QueueView& queue) {
    return {queue.name.value,
            queue.state,
            count_text(queue.in_hand),
            count_text(queue.in_flight) + "/" + count_text(queue.concurrency),
            count_text(queue.waiting_quick + queue.being_copied),
            depth(queue, "work"),
            depth(queue, "lane"),
            depth(queue, "delay"),
            depth(queue, "hold"),
            depth(queue, "parked"),
            depth(queue, "dlq")};
}

std::string table(const std::vector<model::QueueView>& queues) {
    std::vector<Row> rows{heading()};
    for (const model::QueueView& queue : queues) rows.push_back(row_of(queue));
    return set_table(rows, first_number);
}

// The rungs of a ladder where messages wait: "  delay: 10 in 800ms, 12 in 1s".
std::string rungs(const model::QueueView& queue, std::string_view kind) {
    Row pieces{std::string{kind} + ":"};
    for (const model::DepthView& one : queue.depths) {
        if (one.kind != kind || one.messages == 0) continue;
        if (pieces.size() > 1) pieces.back() += ",";
        pieces.push_back(count_text(one.messages) + " in " + one.tier);
    }
    return pieces.size() == 1 ? "" : entry(pieces);
}

// What the table cannot say of a queue: why it is held up, and where in the ladders its messages wait.
std::string details(const model::QueueView& queue) {
    std::string lines;
    for (const model::StallView& stall : queue.stalls) {
        const std::string cause = std::string{model::to_text(stall.cause)} + " for " + span_text(stall.lasting);
        lines += entry(words_of(stall.detail.empty() ? cause : cause + ": " + stall.detail));
    }
    lines += rungs(queue, "delay") + rungs(queue, "hold");
    return lines.empty() ? "" : "\n" + queue.name.value + "\n" + lines;
}

}  // namespace

std::string to_text(const model::StatusView& status) {
    std::string text = headline(status) + broker_lines(status);
    if (status.memory_used > status.memory_limit / 2) {
        text += "memory  " + bytes_text(status.memory_used) + " of " + bytes_text(status.memory_limit) + " in hand\n";
    }
    if (status.queues.empty()) return text;
    text += "\n" + table(status.queues);
    for (const model::QueueView& queue : status.queues) text += details(queue);
    return text;
}

}  // namespace retryd::admin
