#include "admin/top_text.hpp"

#include "sample.hpp"

#include <catch2/catch.hpp>

using namespace retryd;
using namespace retryd::admin;
using namespace std::chrono_literals;

namespace {

model::StatusView after(model::Milliseconds span, std::uint64_t done, std::uint64_t failed) {
    model::StatusView view = samples::status();
    view.at = model::WallTime{1'764'558'000s} + span;
    view.queues[0].deliveries[0] = done;
    view.queues[0].deliveries[2] = failed;
    view.queues[0].depths = {{{"orders"}, "work", "", 1200}, {{"d"}, "delay", "1s", 30}, {{"p"}, "parked", "", 4}};
    return view;
}

}  // namespace

TEST_CASE("rates are outcomes a second between two looks") {
    CHECK(top_lines(after(0s, 100, 10), after(2s, 300, 14)) ==
          "2025-12-01 03:00:02Z orders flowing: 100/s done, 2/s failed, 0/s held, 8/16 in flight, 1200 in work, 0 in lane, 30 "
          "waiting, 4 parked, 0 dead\n");
}

TEST_CASE("on a terminal it is a table") {
    CHECK(top_table(after(0s, 100, 10), after(1s, 220, 13)) ==
          "retryd 0.1.0  2025-12-01 03:00:01Z\n"
          "\n"
          "QUEUE   STATE    DONE/S  FAIL/S  HELD/S  FLIGHT  HAND  WORK  LANE  WAIT  PARKED  DLQ\n"
          "orders  flowing     120       3       0    8/16    12  1200     0    30       4    0\n");
}

TEST_CASE("there is no rate without two looks, and none below zero") {
    CHECK(top_lines(after(0s, 100, 10), after(0s, 100, 10)).find("-/s done, -/s failed") != std::string::npos);
    CHECK(top_lines(after(0s, 100, 10), after(1s, 5, 0)).find("0/s done, 0/s failed") != std::string::npos);
    model::StatusView before = after(0s, 0, 0);
    before.queues.clear();
    CHECK(top_lines(before, after(1s, 5, 0)).find("-/s done") != std::string::npos);
}
