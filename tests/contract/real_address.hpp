#pragma once
// Where the real broker is.

#include "model/policy.hpp"

namespace retryd::contract {

// From RETRYD_TEST_AMQP, amqp://user:password@host:port/vhost; throws where it is not set, so that the case fails.
[[nodiscard]] model::BrokerAddress address_from_environment();

}  // namespace retryd::contract
