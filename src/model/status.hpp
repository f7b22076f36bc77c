#pragma once
// What an operator is shown: built on request on the main loop, plain values. admin/ and metrics/ only render it.

#include "model/figures.hpp"
#include "model/names.hpp"
#include "model/time.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace retryd::model {

struct StallView {
    Cause cause = Cause::broker_down;
    std::string detail;  // a sentence: what, since when it cannot, what would heal it
    Milliseconds lasting{0};
};

struct DepthView {
    QueueName queue;
    std::string kind;            // "work", "lane", "delay", "hold", "parked", "dlq"
    std::string tier;            // the delay or hold rung's time: "800ms"; empty for the others
    std::uint64_t messages = 0;  // as the broker last said
};

struct QueueView {
    QueueName name;
    std::string consumer;  // "http://127.0.0.1:8080/orders", "unix:/run/app.sock"
    std::string state;     // "flowing", or the first cause
    std::vector<StallView> stalls;
    std::uint32_t in_hand = 0;    // unacked, whatever becomes of them
    std::uint32_t in_flight = 0;  // handed to a consumer
    std::uint32_t waiting_quick = 0;
    std::uint32_t being_copied = 0;  // published, not confirmed yet
    std::uint32_t concurrency = 0;
    bool subscribed_work = false;
    bool subscribed_lane = false;
    std::vector<DepthView> depths;  // empty: not asked yet
};

struct LinkView {
    std::string name;  // "consume", "publish"
    bool up = false;
    bool blocked = false;  // the broker's alarm; publish only
    std::string address;   // user@host:port/vhost
    std::string trouble;   // why it is down or blocked; empty otherwise
};

struct StatusView {
    std::string version;
    std::string policy_hash;
    std::string broker_version;  // as the broker's properties say; empty before the first login
    bool ready = false;          // /readyz
    bool draining = false;
    bool drained = false;  // … and done: nothing is in hand, the links are closed
    std::uint64_t memory_used = 0;  // bytes of bodies in hand
    std::uint64_t memory_limit = 0;
    std::vector<LinkView> links;
    std::vector<QueueView> queues;
};

}  // namespace retryd::model
