#pragma once
// Certificates and keys as PEM text. The policy file's check reads them to refuse what is wrong before anything runs, and
// each connection reads them again. No Problem repeats any of the text.

#include "model/problem.hpp"
#include "tls/openssl.hpp"

#include <string_view>
#include <vector>

namespace retryd::tls {

// All certificates of the text, in its order: at least one.
[[nodiscard]] model::Result<std::vector<Certificate>> read_certificates(std::string_view pem);

// The text's first private key. One that asks for a passphrase is a problem: nobody is there to type it.
[[nodiscard]] model::Result<Key> read_key(std::string_view pem);

// Whether the key is the certificate's.
[[nodiscard]] bool belong_together(const X509& certificate, const EVP_PKEY& key);

}  // namespace retryd::tls
