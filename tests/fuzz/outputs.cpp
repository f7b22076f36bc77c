// Names and texts of strangers in what we write for others to read: metrics, JSON, log lines and pages. Each stays what it
// is: a label a label, a line a line.

#include "admin/status_json.hpp"
#include "admin/why.hpp"
#include "admin/why_not.hpp"
#include "app/journal.hpp"
#include "fuzz/input.hpp"
#include "fuzz/json.hpp"
#include "fuzz/operators.hpp"
#include "metrics/prometheus_text.hpp"
#include "model/ledger.hpp"

#include <algorithm>
#include <cctype>

using namespace retryd;
using fuzz::require;

namespace {

bool is_metric_name(std::string_view name) {
    const auto fits = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c == ':'; };
    return !name.empty() && name.starts_with("retryd_") && std::all_of(name.begin(), name.end(), fits);
}

// After the brace: NAME="VALUE", … }. Returns what follows the closing brace.
std::string_view past_labels(std::string_view line) {
    while (!line.empty() && line.front() != '}') {
        const auto quote = line.find("=\"");
        require(quote != std::string_view::npos, "a label has a value");
        line.remove_prefix(quote + 2);
        std::size_t end = 0;
        while (end < line.size() && line[end] != '"') end += line[end] == '\\' ? 2 : 1;
        require(end < line.size(), "a label's value ends");
        line.remove_prefix(end + 1);
        if (line.starts_with(',')) line.remove_prefix(1);
    }
    require(line.starts_with('}'), "labels end");
    return line.substr(1);
}

void check_metrics(std::string_view text, std::size_t samples) {
    require(text.ends_with('\n'), "the exposition ends with a line");
    while (!text.empty()) {
        auto line = text.substr(0, text.find('\n'));
        text.remove_prefix(line.size() + 1);
        if (line.starts_with('#')) continue;
        const auto name = line.substr(0, line.find_first_of("{ "));
        require(is_metric_name(name), "a sample begins with a name of ours");
        line.remove_prefix(name.size());
        if (line.starts_with('{')) line = past_labels(line.substr(1));
        require(line.starts_with(' ') && line.find(' ', 1) == std::string_view::npos, "and ends with its number");
        static_cast<void>(std::stod(std::string(line.substr(1))));
        --samples;
    }
    require(samples == 0, "no name adds a sample");
}

std::size_t samples_in(const std::string& text) {
    std::size_t comments = text.starts_with('#') ? 1 : 0;
    for (std::size_t at = 0; (at = text.find("\n#", at)) != std::string::npos; ++at) ++comments;
    return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) - comments;
}

std::string exposition(const std::string& name, std::string_view version) {
    model::Figures figures;
    figures.queues.resize(1);
    figures.queues[0].queue = name;
    figures.queues[0].scheduled = {{"1", 3}};
    model::StatusView status;
    status.version = version;
    status.queues.resize(1);
    status.queues[0].name.value = name;
    return metrics::to_prometheus_text(figures, status);
}

// No byte of a line that a terminal or a reader of logs would obey.
void check_line(std::string_view line) {
    require(line.ends_with('\n'), "a line ends");
    line.remove_suffix(1);
    require(model::cut_text(line, line.size()) == line, "a line holds nothing that is not shown as it is");
}

void check_log(std::string_view name, const std::string& value) {
    const ports::LogEvent event{model::LogLevel::info, "parked", {{"queue", value}, {"error", std::string(name)}}};
    const model::WallTime at{std::chrono::milliseconds{1'700'000'000'000}};
    const auto json = app::format_line(event, at, model::LogFormat::json);
    check_line(json);
    require(fuzz::parsed(json).as_object().size() == 5, "a line has its members and no other");
    check_line(app::format_line(event, at, model::LogFormat::text));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::Input in(data, size);
    const std::string name(in.text());
    const std::string text(in.text());
    const auto version = in.text();

    check_metrics(exposition(name, version), samples_in(exposition("orders", "1")));
    check_log(name, text);

    fuzz::Operator daemon;
    daemon.view.queues.resize(1);
    auto& queue = daemon.view.queues[0];
    queue.name.value = name;
    queue.consumer = text;
    queue.state = version;
    queue.stalls = {{model::Cause::consumer_away, text, std::chrono::seconds{12}}};
    queue.depths = {{{name}, "work", text, 7}};
    daemon.view.links = {{"consume", false, false, text, name}};
    static_cast<void>(fuzz::parsed(admin::to_json(daemon.view)));
    require(admin::status_from_json(admin::to_json(daemon.view)).has_value(), "a status is read back");
    static_cast<void>(fuzz::parsed(admin::to_json(admin::why_not(queue, daemon.view.at))));

    daemon.story.id = text;
    daemon.story.decisions.resize(1);
    daemon.story.decisions[0].kind = model::DecisionView::Kind::lot;
    daemon.story.decisions[0].place.value = name;
    daemon.story.decisions[0].error = text;
    static_cast<void>(fuzz::parsed(admin::to_json(daemon.story)));
    for (const auto& sentence : admin::sentences(daemon.story)) check_line(sentence + "\n");
    return 0;
}
