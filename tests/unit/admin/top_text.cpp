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
          "2025-12-01 03:00:02Z orders flowing done/s=100 fail/s=2 held/s=0 flight=8/16 work=1200 lane=0 wait=30 parked=4 "
          "dlq=0\n");
}

TEST_CASE("on a terminal it is a table") {
    CHECK(top_table(after(0s, 100, 10), after(1s, 220, 13)) ==
          "retryd 0.1.0  2025-12-01 03:00:01Z\n"
          "\n"
          "QUEUE   STATE    DONE/S  FAIL/S  HELD/S  FLIGHT  HAND  WORK  LANE  WAIT  PARKED  DLQ\n"
          "orders  flowing     120       3       0    8/16    12  1200     0    30       4    0\n");
}

TEST_CASE("there is no rate without two looks, and none below zero") {
    CHECK(top_lines(after(0s, 100, 10), after(0s, 100, 10)).find("done/s=- fail/s=- ") != std::string::npos);
    CHECK(top_lines(after(0s, 100, 10), after(1s, 5, 0)).find("done/s=0 fail/s=0 ") != std::string::npos);
    model::StatusView before = after(0s, 0, 0);
    before.queues.clear();
    CHECK(top_lines(before, after(1s, 5, 0)).find("done/s=- ") != std::string::npos);
}
