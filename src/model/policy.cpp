#include "model/policy.hpp"

namespace retryd::model {

std::string to_text(const BrokerAddress& address) {
    const bool v6 = address.host.find(':') != std::string::npos;
    const std::string host = v6 ? "[" + address.host + "]" : address.host;
    const std::string user = address.user.empty() ? "" : address.user + "@";
    return user + host + ":" + std::to_string(address.port) + "/" + address.vhost;
}

}  // namespace retryd::model
