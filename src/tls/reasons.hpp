#pragma once
// Why a certificate is refused, in a sentence: the broker's by us, or ours by the broker.
//
// Names in certificates come from outside: what is not printable is shown as ?, and long lists are cut.

#include <openssl/x509_vfy.h>

#include <string>

namespace retryd::tls {

// What the broker's certificate was held against.
struct Expectation {
    std::string name;         // the host or address that it must be for
    std::string authorities;  // "tls.ca_file", "the system's store": where trusted authorities come from
};
// For the error that the verification stands at.
[[nodiscard]] std::string why_not_trusted(X509_STORE_CTX& verification, const Expectation& expected);

// What we showed the broker of ourselves.
enum class ShownCertificate { not_asked, none, ours };
// For an alert that the broker sent, by its number in RFC 8446.
[[nodiscard]] std::string why_alerted(int alert, ShownCertificate shown);

}  // namespace retryd::tls
