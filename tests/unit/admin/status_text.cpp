#include "admin/status_text.hpp"

#include "sample.hpp"

#include <catch2/catch.hpp>

#include <sstream>
#include <string>

using namespace retryd;
using namespace retryd::admin;
using namespace std::chrono_literals;

namespace {

std::size_t widest(const std::string& text) {
    std::istringstream lines{text};
    std::size_t most = 0;
    for (std::string line; std::getline(lines, line);) most = std::max(most, line.size());
    return most;
}

model::QueueView busy_queue(const std::string& name) {
    model::QueueView queue = samples::queue(name);
    queue.depths = {{{name}, "work", "", 1040},      {{"lane"}, "lane", "", 3},
                    {{"d1"}, "delay", "800ms", 10},  {{"d2"}, "delay", "933ms", 0},
                    {{"d3"}, "delay", "1200ms", 12}, {{"h1"}, "hold", "15s", 7},
                    {{"p"}, "parked", "", 2},        {{"q"}, "dlq", "", 0}};
    queue.waiting_quick = 3;
    queue.being_copied = 1;
    return queue;
}

}  // namespace

TEST_CASE("when all is well the status is a headline, a broker line and a table") {
    CHECK(to_text(samples::status()) ==
          "retryd 0.1.0: every queue flows\n"
          "broker  svc@127.0.0.1:5672/, RabbitMQ 3.10.8, both links up\n"
          "\n"
          "QUEUE   STATE    HAND  FLIGHT  WAIT  WORK  LANE  DELAY  HOLD  PARKED  DLQ\n"
          "orders  flowing    12    8/16     0     -     -      -     -       -    -\n");
}

TEST_CASE("depths are summed by kind, and the rungs where messages wait are named below") {
    model::StatusView status = samples::status();
    status.queues = {busy_queue("orders")};
    CHECK(to_text(status) ==
          "retryd 0.1.0: every queue flows\n"
          "broker  svc@127.0.0.1:5672/, RabbitMQ 3.10.8, both links up\n"
          "\n"
          "QUEUE   STATE    HAND  FLIGHT  WAIT  WORK  LANE  DELAY  HOLD  PARKED  DLQ\n"
          "orders  flowing    12    8/16     4  1040     3     22     7       2    0\n"
          "\n"
          "orders\n"
          "  delay: 10 in 800ms, 12 in 1200ms\n"
          "  hold: 7 in 15s\n");
}

TEST_CASE("causes are sentences under the table, one for each") {
    model::StatusView status = samples::status();
    status.queues = {samples::queue("bills"), samples::stalled_queue("orders")};
    status.queues[1].stalls.push_back({model::Cause::queue_missing, "", 5min});
    CHECK(to_text(status) ==
          "retryd 0.1.0 is held up\n"
          "broker  svc@127.0.0.1:5672/, RabbitMQ 3.10.8, both links up\n"
          "\n"
          "QUEUE   STATE          HAND  FLIGHT  WAIT  WORK  LANE  DELAY  HOLD  PARKED  DLQ\n"
          "bills   flowing          12    8/16     0     -     -      -     -       -    -\n"
          "orders  consumer-away    12    8/16     0     -     -      -     -       -    -\n"
          "\n"
          "orders\n"
          "  consumer-away for 12 s: connect unix:/run/app.sock: No such file or directory\n"
          "  queue-missing for 5 min\n");
}

TEST_CASE("links that differ have a line each, with the trouble") {
    model::StatusView status = samples::status();
    status.ready = false;
    status.broker_version.clear();
    status.queues.clear();
    status.links[0].up = false;
    status.links[0].trouble = "connect: Connection refused";
    status.links[1].blocked = true;
    CHECK(to_text(status) ==
          "retryd 0.1.0 is starting\n"
          "broker  svc@127.0.0.1:5672/, consume link down (connect: Connection refused)\n"
          "broker  svc@127.0.0.1:5672/, publish link blocked by the broker\n");
}

TEST_CASE("the headline says when retryd drains") {
    model::StatusView status = samples::status();
    status.draining = true;
    CHECK(to_text(status).substr(0, 25) == "retryd 0.1.0 is draining\n");
}

TEST_CASE("what is in hand is shown from half of the limit on") {
    model::StatusView status = samples::status();
    CHECK(to_text(status).find("memory") == std::string::npos);
    status.memory_used = 200 * 1024 * 1024;
    CHECK(to_text(status).find("memory  200 MiB of 256 MiB in hand\n") != std::string::npos);
}

TEST_CASE("the text keeps to 100 columns with long names, large numbers and long sentences") {
    model::StatusView status = samples::status();
    model::QueueView queue = busy_queue("a.queue.with.quite.a.long.name.that.takes.a.good.part.of.the.whole.width.of.it");
    queue.state = "consumer-misconfigured";
    queue.stalls = {{model::Cause::consumer_misconfigured, "", 12s}};
    for (int i = 0; i < 60; ++i) queue.stalls[0].detail += (i == 0 ? "word" : " word");
    for (model::DepthView& depth : queue.depths) depth.messages = 123'456'789;
    queue.in_hand = queue.in_flight = queue.concurrency = 10'000;
    status.queues = {samples::queue("orders"), queue};
    const std::string text = to_text(status);
    CAPTURE(text);
    CHECK(widest(text) <= 100);
    CHECK(text.find("\n" + queue.name.value + "\n") != std::string::npos);
}
