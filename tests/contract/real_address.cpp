#include "contract/real_address.hpp"

#include "amqp/library.hpp"

#include <cstdlib>
#include <stdexcept>
#include <string>

namespace retryd::contract {

model::BrokerAddress address_from_environment() {
    const char* given = std::getenv("RETRYD_TEST_AMQP");  // NOLINT(concurrency-mt-unsafe): nobody sets it
    if (given == nullptr) throw std::runtime_error{"RETRYD_TEST_AMQP is not set: amqp://user:password@host:port/vhost"};
    std::string uri{given};
    if (uri.ends_with('/')) uri.pop_back();
    amqp_connection_info parsed{};
    amqp_default_connection_info(&parsed);
    if (amqp_parse_url(uri.data(), &parsed) != AMQP_STATUS_OK) throw std::runtime_error{"RETRYD_TEST_AMQP is no AMQP URI"};
    return {parsed.host, static_cast<std::uint16_t>(parsed.port), parsed.vhost, parsed.user, parsed.password};
}

}  // namespace retryd::contract
