#pragma once
// amqp://USER:PASSWORD@HOST:PORT/VHOST, and amqps:// for TLS, read strictly: user, password and vhost percent-decoded, IPv6
// in brackets, no query. Without a user it is guest:guest; without a port 5672, over TLS 5671; no vhost, or nothing after
// the slash, is "/" (so is "%2f").

#include "model/policy.hpp"
#include "model/problem.hpp"

#include <string>
#include <string_view>

namespace retryd::policyfile {

struct BrokerUri {
    model::BrokerAddress address;
    bool names_user = false;
};
// Problems never repeat any part of `uri`: with a raw @ or / in a password, what looks like a host may be a piece of it.
[[nodiscard]] model::Result<BrokerUri> parse_broker_uri(std::string_view uri);

// For display: `***` in the place of a password.
[[nodiscard]] std::string without_password(std::string_view uri);

}  // namespace retryd::policyfile
