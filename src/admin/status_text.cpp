#include "admin/status_text.hpp"

#include "admin/wording.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

namespace retryd::admin {
namespace {

constexpr std::size_t width = 100;
constexpr std::string_view margin = "  ";

using Row = std::vector<std::string>;

// Characters, not bytes, so that names beyond ASCII do not push a column out of line.
std::size_t columns(std::string_view text) {
    return static_cast<std::size_t>(
        std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

std::string spaces(std::size_t count) {
    return std::string(count, ' ');
}

std::string left(std::string_view text, std::size_t size) {
    return std::string{text} + spaces(size - std::min(size, columns(text)));
}

std::string right(std::string_view text, std::size_t size) {
    return spaces(size - std::min(size, columns(text))).append(text);
}

Row words_of(std::string_view text) {
    Row words;
    while (!text.empty()) {
        words.emplace_back(text.substr(0, text.find(' ')));
        text.remove_prefix(std::min(text.size(), words.back().size() + 1));
    }
    return words;
}

// Pieces set into lines of at most `width` columns, none of them broken; further lines are indented.
std::string wrapped(const Row& pieces, std::size_t first_indent, std::size_t indent) {
    std::string out = spaces(first_indent);
    std::size_t used = first_indent;
    for (std::size_t i = 0; i < pieces.size(); ++i) {
        if (i > 0) {
            const bool fits = used + 1 + columns(pieces[i]) <= width;
            out += fits ? " " : "\n" + spaces(indent);
            used = fits ? used + 1 : indent;
        }
        out += pieces[i];
        used += columns(pieces[i]);
    }
    return out + "\n";
}

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

// As wide as its longest cell; the names take what is left of the width.
std::vector<std::size_t> column_sizes(const std::vector<Row>& rows) {
    std::vector<std::size_t> sizes(rows.front().size(), 0);
    for (const Row& row : rows) {
        for (std::size_t i = 0; i < row.size(); ++i) sizes[i] = std::max(sizes[i], columns(row[i]));
    }
    std::size_t others = 0;
    for (std::size_t i = 1; i < sizes.size(); ++i) others += sizes[i] + margin.size();
    sizes[0] = std::min(sizes[0], width - std::min(width, others));
    return sizes;
}

// A name that does not fit has a line of its own.
std::string set_row(const Row& row, const std::vector<std::size_t>& sizes) {
    std::string line = columns(row[0]) > sizes[0] ? row[0] + "\n" + spaces(sizes[0]) : left(row[0], sizes[0]);
    for (std::size_t i = 1; i < row.size(); ++i) {
        line.append(margin).append(i < first_number ? left(row[i], sizes[i]) : right(row[i], sizes[i]));
    }
    return line + "\n";
}

std::string table(const std::vector<model::QueueView>& queues) {
    std::vector<Row> rows{heading()};
    for (const model::QueueView& queue : queues) rows.push_back(row_of(queue));
    const std::vector<std::size_t> sizes = column_sizes(rows);
    std::string text;
    for (const Row& row : rows) text += set_row(row, sizes);
    return text;
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
        text += "memory  " + bytes_text(status.memory_used) + " of " + bytes_text(status.memory_limit) + " in bodies\n";
    }
    if (status.queues.empty()) return text;
    text += "\n" + table(status.queues);
    for (const model::QueueView& queue : status.queues) text += details(queue);
    return text;
}

}  // namespace retryd::admin
