// `deliver.ready`: none, a path, or a mapping with the path and the gate's pace.

#include "policyfile/addresses.hpp"
#include "policyfile/keys.hpp"
#include "policyfile/queue_reader.hpp"

namespace retryd::policyfile {

using namespace std::chrono_literals;

namespace {

void read_ready_path(const Field& field, Values& values, std::string& out) {
    const std::optional<std::string> text = values.text(field);
    if (!text) return;
    if (const auto trouble = request_path_trouble(*text)) {
        values.fault(field, Values::shown(field) + ": " + trouble->what, "such as /healthz, or none");
    } else {
        out = *text;
    }
}

}  // namespace

void read_ready(const Field& ready, Values& values, std::optional<model::ReadyPolicy>& out) {
    out.reset();
    if (ready.off() || ready.absent()) return;
    auto& gate = out.emplace();
    if (!ready.get().mapping()) return read_ready_path(ready, values, gate.path);
    check_keys_of(ready.get(), {"path", "every", "down_after", "up_after"}, ready.path, values.faults());
    read_ready_path(ready.at("path"), values, gate.path);
    values.read(ready.at("every"), {100ms, 1h}, gate.every);
    values.read(ready.at("down_after"), {1, 100}, gate.down_after);
    values.read(ready.at("up_after"), {1, 100}, gate.up_after);
}

}  // namespace retryd::policyfile
