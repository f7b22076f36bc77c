#pragma once
// The figures as Prometheus text, made at scrape time: the one place where metric names stand. Main loop only.
// Label values come from the policy and from closed sets; every outcome, reason and cause is there from the start.

#include "model/figures.hpp"
#include "model/status.hpp"

#include <string>

namespace retryd::metrics {

[[nodiscard]] std::string to_prometheus_text(const model::Figures& figures, const model::StatusView& status);

}  // namespace retryd::metrics
