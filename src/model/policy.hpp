#pragma once
// The policy in force: plain values, complete (every built-in, default and group value is in place), replaced whole and
// never edited. policyfile/ makes it from YAML and is the only place that knows the keys' spelling.
// "Off" is std::nullopt, never zero. Defaults written here are the built-in values of the policy file.

#include "model/guards.hpp"
#include "model/http_target.hpp"
#include "model/names.hpp"
#include "model/outcome.hpp"
#include "model/pattern.hpp"
#include "model/time.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace retryd::model {

using namespace std::chrono_literals;

enum class QueueType : std::uint8_t { quorum, classic };

// Who may come to a Unix socket that we listen on.
struct SocketAccess {
    std::uint32_t mode = 0660;                // of the socket file
    std::optional<std::string> owner, group;  // of the socket file, names or numbers; nothing: the process's own
    std::vector<std::uint32_t> uids;          // users that a peer may run as; empty: whoever the mode lets in
};

// Where the consumer's processes come to.
struct StreamTarget {
    std::string unix_path;
    SocketAccess access;
};

// A standing gate: deliveries flow only while GET `path` answers 2xx.
struct ReadyPolicy {
    std::string path;
    Milliseconds every = 2s;
    std::uint32_t down_after = 1;  // failed probes in a row that close the gate
    std::uint32_t up_after = 1;    // good probes in a row that open it
};

struct DeliverPolicy {
    HttpTarget http;                                           // where the consumer listens
    std::optional<StreamTarget> stream;                        // instead of http
    std::vector<std::pair<std::string, std::string>> headers;  // fixed ones, added to each request; may hold secrets
    Milliseconds timeout = 20s;                                // from the request's first byte to the reply's last
    std::uint32_t concurrency = 16;                // deliveries at the consumer at once, 1..10000; adaptive: the most
    std::optional<AdaptiveConcurrency> adaptive;   // found out within these limits
    std::optional<RatePolicy> rate;                // deliveries, in each process
    ByteCount max_reply{64 * 1024};                // above: the status decides, the body is not read
    std::optional<ReadyPolicy> ready;              // http only: on a stream a session is the readiness
    std::optional<Milliseconds> slow_start = 10s;  // until full concurrency, at the latest
};

struct StatusRange {
    std::uint16_t first = 0;  // 100..599
    std::uint16_t last = 0;   // inclusive
};
// All members that are not empty must match; within one, any of its patterns.
struct ClassifyRule : MessageMatch {
    std::vector<StatusRange> status;
    std::vector<Pattern> error_type;
    std::vector<Pattern> error_message;
    std::vector<Pattern> dependency;
    Outcome as = Outcome::transient;    // one of the stated outcomes
    std::optional<Milliseconds> delay;  // transient: instead of the rung; throttled: instead of the hold ladder's climb
};
inline constexpr std::size_t max_classify_rules = 64;  // for each queue: what a message matches is one 64-bit mask

struct RetryPolicy {
    std::vector<Milliseconds> quick;  // waits before the quick tries, in order; their sum is at most `within`
    std::optional<Ratio> skip_quick_above = Ratio{0.1};  // failing share of the window's calls above which there are none
    std::vector<Milliseconds> delays{1s, 2s, 4s, 8s, 16s, 32s};  // 50 ms..7 d each; empty: no delayed retry
    std::uint32_t max = 6;                                       // delayed retries; beyond delays.size() the last delay repeats
    Ratio jitter{0.2};                                           // ±, 0..0.9
    bool full_jitter = false;                                    // `jitter: full`
    std::uint32_t spread = 4;                                    // queues for each rung, 1..16
    QueueType queue_type = QueueType::quorum;
};

struct HoldPolicy {
    std::vector<Milliseconds> delays{15s, 1min, 5min, 30min, 2h};  // rising
    std::optional<Milliseconds> max;                               // held time in all, then `to.held`
    Milliseconds max_retry_after = 6h;                             // a longer Retry-After is cut to this
};

// Names of queues, already resolved from `parked`, `dlq` or {queue: NAME}.
struct Destinations {
    QueueName exhausted, age, held, expired, poison, permanent;
};

struct QueuePolicy {
    QueueName name;               // the work queue
    QueueName lane, parked, dlq;  // our own queues
    std::string tier_prefix;      // "retryd.orders." — "delay.800ms" and the like follow
    DeliverPolicy deliver;
    std::vector<ClassifyRule> classify;
    RetryPolicy retry;
    HoldPolicy hold;
    std::optional<Milliseconds> age_limit;
    std::uint32_t suspect_after = 2;  // pieces of evidence that a message takes its consumer down, 1..1000
    std::uint32_t solo_tries = 2;     // deliveries alone without a reply, then it is poison, 1..100
    Destinations to;
    std::uint32_t history = 10;                              // attempts kept on the message; 0: none
    std::uint32_t prefetch = 128;                            // for each of the two channels, 1..65535
    Ratio lane_share{0.25};                                  // slots for the lane while fresh messages wait
    std::optional<QueueType> declare;                        // create the work queue, as this type
    std::optional<BreakerPolicy> breaker = BreakerPolicy{};  // of the queue's own consumer
    std::vector<Need> needs;
    BudgetsPolicy budgets;
    std::optional<StormPolicy> storm = StormPolicy{};
};

struct BrokerAddress {
    std::string host;  // a name or an address without brackets
    std::uint16_t port = 5672;
    std::string vhost = "/";
    std::string user = "guest";      // empty where the certificate says who we are
    std::string password = "guest";  // never printed
    bool tls = false;                // amqps://
};
// "user@host:port/vhost", for logs: never the password.
[[nodiscard]] std::string to_text(const BrokerAddress& address);

// Of amqps://. The files are PEM and are read again for each connection, so that a renewed certificate needs no restart.
struct TlsPolicy {
    std::string ca_file;      // authorities that are trusted; empty: the system's
    std::string cert_file;    // our certificate and what leads to its authority; empty: none
    std::string key_file;     // its key; empty exactly when cert_file is
    std::string server_name;  // that the broker's certificate must bear; empty: the address's host
    bool verify = true;       // false: whoever answers is believed to be the broker
};

enum class BrokerAuth : std::uint8_t { plain, external };  // external: the broker knows us by our certificate

struct BrokerPolicy {
    std::vector<BrokerAddress> addresses;  // tried in turn, at least one; either all of them over TLS or none
    TlsPolicy tls;
    BrokerAuth auth = BrokerAuth::plain;
    std::chrono::seconds heartbeat = 20s;  // 1 s..1 h; the broker treats 0 as off, so it is refused
    Milliseconds connect_timeout = 10s;
    Milliseconds confirm_timeout = 30s;
};

struct ListenAddress {
    std::string unix_path;  // empty: TCP
    std::string tcp_host;
    std::uint16_t tcp_port = 0;
};

enum class LogLevel : std::uint8_t { debug, info, warn, error };
enum class LogFormat : std::uint8_t { automatic, json, text };  // automatic: json unless on a terminal

struct Policy {
    BrokerPolicy broker;
    ByteCount memory{256 * 1024 * 1024};
    ByteCount max_body{64 * 1024 * 1024};
    std::optional<std::vector<ListenAddress>> admin;  // nothing: the default socket (app/ knows where)
    std::string admin_token;  // that the admin addresses over TCP ask for, never printed; empty: there are none
    std::vector<ListenAddress> metrics;
    LogLevel log_level = LogLevel::info;
    LogFormat log_format = LogFormat::automatic;
    std::vector<DependencyPolicy> dependencies;  // in the file's order
    std::vector<QueuePolicy> queues;             // in the file's order; QueueId is the position
    std::string hash;                            // of the effective values without secrets: retryd_policy_info
};
using PolicyPtr = std::shared_ptr<const Policy>;

}  // namespace retryd::model
