#include "contract/real_address.hpp"

#include "amqp/library.hpp"

#include <cstdlib>
#include <stdexcept>
#include <string>

namespace retryd::contract {

namespace {

std::string from_environment(const char* name) {
    const char* given = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): nobody sets it
    if (given == nullptr) throw std::runtime_error{std::string{name} + " is not set"};
    return given;
}

model::BrokerAddress address_in(const char* name) {
    std::string uri = from_environment(name);
    if (uri.ends_with('/')) uri.pop_back();
    amqp_connection_info parsed{};
    amqp_default_connection_info(&parsed);
    if (amqp_parse_url(uri.data(), &parsed) != AMQP_STATUS_OK) throw std::runtime_error{std::string{name} + " is no AMQP URI"};
    return {parsed.host, static_cast<std::uint16_t>(parsed.port), parsed.vhost, parsed.user, parsed.password, parsed.ssl != 0};
}

}  // namespace

model::BrokerAddress address_from_environment() {
    return address_in("RETRYD_TEST_AMQP");
}

model::BrokerPolicy policy_from_environment() {
    model::BrokerPolicy policy;
    const char* links = std::getenv("RETRYD_TEST_LINKS");  // NOLINT(concurrency-mt-unsafe): nobody sets it
    if (links == nullptr || std::string{links} != "tls") {
        policy.addresses = {address_from_environment()};
        return policy;
    }
    policy.addresses = {address_in("RETRYD_TEST_AMQPS")};
    const std::string folder = from_environment("RETRYD_TEST_BROKER_DIR") + "/tls/";
    policy.tls.ca_file = folder + "ca.pem";
    policy.tls.cert_file = folder + "client.pem";
    policy.tls.key_file = folder + "client.key";
    return policy;
}

}  // namespace retryd::contract
