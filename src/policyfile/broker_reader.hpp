#pragma once
// `broker`: its addresses, its times, and who we are to it. What its TLS keys name is in tls_reader.

#include "model/policy.hpp"
#include "policyfile/values.hpp"

namespace retryd::policyfile {

// `start`: where to tell of a file that has no broker at all.
void read_broker(const Field& broker, Place start, Values& values, model::BrokerPolicy& out);

// `broker.tls`: each file is read and judged here, before anything runs.
void read_tls(const Field& tls, Values& values, model::TlsPolicy& out);

}  // namespace retryd::policyfile
