#pragma once
// What OpenSSL allocates, with one owner each.

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/x509v3.h>

#include <memory>

namespace retryd::tls {

struct Free {
    void operator()(X509* certificate) const { X509_free(certificate); }
    void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
    void operator()(BIO* bytes) const { BIO_free(bytes); }
    void operator()(GENERAL_NAMES* names) const { GENERAL_NAMES_free(names); }
};

using Certificate = std::unique_ptr<X509, Free>;
using Key = std::unique_ptr<EVP_PKEY, Free>;
using Bytes = std::unique_ptr<BIO, Free>;
using Names = std::unique_ptr<GENERAL_NAMES, Free>;

}  // namespace retryd::tls
