#include "policyfile/builtin.hpp"

#include "policyfile/faults.hpp"

#include <algorithm>
#include <array>

namespace retryd::policyfile {

namespace {

constexpr std::string_view text = R"(
broker:
  uri: ~
  heartbeat: 20s
  connect_timeout: 10s
  confirm_timeout: 30s
  tls: {ca_file: ~, cert_file: ~, key_file: ~, server_name: ~, verify: true}
  auth: plain
  management: ~
names: {prefix: "retryd."}
memory: 256MiB
max_body: 64MiB
admin: {listen: ~, token_file: ~}
metrics: {listen: ~}
log: {level: info, format: auto}
defaults:
  deliver:
    http: ~
    path: /
    headers: {}
    stream: ~
    stream_access: {mode: "0660", owner: ~, group: ~, uid: ~}
    timeout: 20s
    concurrency: 16
    rate: none
    burst: ~
    max_reply: 64KiB
    ready: none
    slow_start: 10s
  classify: []
  retry:
    quick: {tries: 2, delay: 200ms, factor: 2, within: 1s, skip_above: 10%}
    delays: [1s, 2s, 4s, 8s, 16s, 32s]
    max: ~
    jitter: 20%
    spread: 4
    queue_type: quorum
    backend: queues
    return_to: lane
  hold: {delays: [15s, 1m, 5m, 30m, 2h], max: none, max_retry_after: 6h}
  limits: {age: none, suspect_after: 2, solo_tries: 2}
  to: {exhausted: parked, age: parked, held: parked, expired: parked, poison: parked, permanent: dlq}
  history: 10
  prefetch: auto
  lane_share: 25%
  declare: none
  breaker: {window: 30s, failure_rate: 90%, min_calls: 20, all_fail: 10, open_for: 10s, open_max: 5m, half_open: 3}
  needs: []
  budgets: {park: {per_success: 0.1, burst: 100, floor: 10/m}, dead_letter: {per_success: 0.5, burst: 1000, floor: 100/m}}
  storm: {failure_rate: 15%, growth: 3, within: 90s, min_depth: 500, retry_messages: 40%, damp: 20%, stretch: 1, calm_for: 60s}
queues: ~
groups: ~
dependencies: {}
events: {}
)";

constexpr std::string_view dependency_text = R"(
window: 30s
failure_rate: 50%
min_calls: 20
all_fail: 10
slow_call: 10s
slow_rate: 100%
open_for: 10s
open_max: 5m
half_open: 3
on_open: auto
fallback: []
rate: none
burst: ~
recover: {to: 120%, of: 10m}
)";

constexpr std::array process_later{"broker.management", "events"};

bool lies_under(std::string_view path, std::string_view key) {
    return path.starts_with(key) && (path.size() == key.size() || path[key.size()] == '.');
}

Node built_in(std::string_view values) {
    Faults untold("built-in");  // keys without a value are meant here
    Node root = parse_document(values, untold);
    set_section(root, "built-in");
    return root;
}

}  // namespace

Node built_in_values() {
    return built_in(text);
}

Node built_in_dependency() {
    return built_in(dependency_text);
}

bool process_key_is_later(std::string_view path) {
    return std::any_of(process_later.begin(), process_later.end(), [path](const char* key) { return lies_under(path, key); });
}

}  // namespace retryd::policyfile
