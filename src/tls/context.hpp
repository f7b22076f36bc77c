#pragma once
// Fits out a client's SSL_CTX from the policy: whom to trust, what to show, whom to expect. Blocks for the files.
// Problems name the file and say what is wrong with it.

#include "model/problem.hpp"

#include <openssl/ssl.h>

#include <string>

namespace retryd::tls {

// Trusts what the file holds, authorities and single certificates alike; `file` empty: the system's store.
[[nodiscard]] model::Result<void> trust(SSL_CTX& context, const std::string& file);

// Shows the certificate to a broker that asks, with what leads to its authority.
[[nodiscard]] model::Result<void> identify(SSL_CTX& context, const std::string& cert_file, const std::string& key_file);

// Demands a certificate that is for `name`, a host or an address: a subjectAltName of it, with a * for at most the whole
// first label. How its refusal shows is up to SSL_CTX_set_verify.
void expect(SSL_CTX& context, const std::string& name);

// Whether SNI may carry it: an address may not.
[[nodiscard]] bool is_address(const std::string& name);

}  // namespace retryd::tls
