#pragma once
// Where the real broker is.

#include "model/policy.hpp"

namespace retryd::contract {

// From RETRYD_TEST_AMQP, amqp://user:password@host:port/vhost; throws where it is not set, so that the case fails.
[[nodiscard]] model::BrokerAddress address_from_environment();

// What the links under test are given: that address, or with RETRYD_TEST_LINKS=tls the one of RETRYD_TEST_AMQPS, with the
// certificates of that broker.
[[nodiscard]] model::BrokerPolicy policy_from_environment();

}  // namespace retryd::contract
