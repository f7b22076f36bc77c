#pragma once
// What an operator orders of the guards by POST, and what is answered.
//
//   /breaker?name=NAME&act=open|close|disable|reset[&for_ms=1800000]
//   /pause?queue=NAME  /resume?queue=NAME  /throttle?queue=NAME&percent=20

#include "model/order.hpp"
#include "model/problem.hpp"
#include "model/status.hpp"

#include <string>
#include <string_view>

namespace retryd::admin {

// What the target of the request orders; the problem is a sentence for whoever asks.
[[nodiscard]] model::Result<model::Order> order_in(std::string_view target);

// JSON: the breakers, and the same as text for a terminal.
[[nodiscard]] std::string breakers_page(const model::StatusView& status);
// JSON: what has become of the one that the order was for.
[[nodiscard]] std::string order_page(const model::Order& order, const model::StatusView& status);
// What there is of the kind that the order is for: "queue:orders, payments".
[[nodiscard]] std::string names_for(const model::Order& order, const model::StatusView& status);

}  // namespace retryd::admin
