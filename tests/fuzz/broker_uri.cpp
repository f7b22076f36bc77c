// A broker's URI: what can be read has its parts in range, and a password is in no text about it.

#include "policyfile/broker_uri.hpp"
#include "fuzz/input.hpp"

#include <algorithm>

using namespace retryd;
using fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string text(fuzz::Input(data, size).rest());
    const auto parsed = policyfile::parse_broker_uri(text);
    if (parsed) {
        const auto* address = &parsed->address;
        require(!address->host.empty() && !address->user.empty() && address->port > 0, "an address has its parts");
        require(address->vhost.size() <= 255, "a vhost is a short string");
        const auto has_control = [](const std::string& part) {
            return std::any_of(part.begin(), part.end(), [](unsigned char c) { return c < 0x20; });
        };
        require(!has_control(address->host) && !has_control(address->user) && !has_control(address->password) &&
                    !has_control(address->vhost),
                "no part holds a control character");
    }

    // The same with a password of ours before it: it shows nowhere.
    constexpr std::string_view password = "Zq7secret";
    if (text.find("Zq7") != std::string::npos) return 0;
    const auto uri = "amqp://app:" + std::string(password) + text;
    const auto read = policyfile::parse_broker_uri(uri);
    if (!read) require(to_text(read.error()).find(password) == std::string::npos, "no problem holds a password");
    if (read) require(policyfile::without_password(uri).find(password) == std::string::npos, "it is not shown");
    if (read) require(to_text(read->address).find(password) == std::string::npos, "nor is it in the name of the address");
    return 0;
}
