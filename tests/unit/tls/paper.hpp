#pragma once
// Certificates and keys made on the spot, for tests of what is said about them.

#include "tls/openssl.hpp"

#include <openssl/evp.h>
#include <openssl/pem.h>

#include <stdexcept>
#include <string>

namespace retryd::tls {

inline Key fresh_key() {
    return Key{EVP_EC_gen("P-256")};
}

struct Wanted {
    std::string name;        // the common name
    std::string hosts = "";  // subjectAltName, "DNS:a,IP:127.0.0.1"; empty: none
    long from = -86400;      // seconds from now
    long until = 86400;      // seconds from now
    bool authority = false;
    std::string usage = "";  // extendedKeyUsage; empty: none
};

inline void extend(X509& certificate, int kind, const std::string& value) {
    if (value.empty()) return;
    X509_EXTENSION* const extension = X509V3_EXT_conf_nid(nullptr, nullptr, kind, value.c_str());
    if (extension == nullptr) throw std::runtime_error{"no such extension: " + value};
    X509_add_ext(&certificate, extension, -1);
    X509_EXTENSION_free(extension);
}

// Signed by `signer` in the name of `issuer`; without an issuer in its own.
inline Certificate certificate(const Wanted& wanted, EVP_PKEY& key, EVP_PKEY& signer, const X509* issuer = nullptr) {
    static long serial = 0;
    Certificate made{X509_new()};
    X509_set_version(made.get(), X509_VERSION_3);
    ASN1_INTEGER_set(X509_get_serialNumber(made.get()), ++serial);
    X509_gmtime_adj(X509_getm_notBefore(made.get()), wanted.from);
    X509_gmtime_adj(X509_getm_notAfter(made.get()), wanted.until);
    X509_set_pubkey(made.get(), &key);
    X509_NAME* const subject = X509_get_subject_name(made.get());
    const auto* const name = reinterpret_cast<const unsigned char*>(wanted.name.data());
    X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_UTF8, name, static_cast<int>(wanted.name.size()), -1, 0);
    X509_set_issuer_name(made.get(), X509_get_subject_name(issuer == nullptr ? made.get() : issuer));
    extend(*made, NID_subject_alt_name, wanted.hosts);
    extend(*made, NID_basic_constraints, wanted.authority ? "critical,CA:TRUE" : "");
    extend(*made, NID_ext_key_usage, wanted.usage);
    if (X509_sign(made.get(), &signer, EVP_sha256()) == 0) throw std::runtime_error{"the certificate can't be signed"};
    return made;
}

inline std::string drained(BIO& bytes) {
    char* data = nullptr;
    const auto size = BIO_get_mem_data(&bytes, &data);
    return {data, static_cast<std::size_t>(size)};
}

inline std::string pem_of(X509& certificate) {
    const Bytes out{BIO_new(BIO_s_mem())};
    PEM_write_bio_X509(out.get(), &certificate);
    return drained(*out);
}

// Under the passphrase, where there is one.
inline std::string pem_of(EVP_PKEY& key, const std::string& passphrase = {}) {
    const Bytes out{BIO_new(BIO_s_mem())};
    const auto* const bytes = reinterpret_cast<const unsigned char*>(passphrase.data());
    PEM_write_bio_PrivateKey(out.get(), &key, passphrase.empty() ? nullptr : EVP_aes_128_cbc(), bytes,
                             static_cast<int>(passphrase.size()), nullptr, nullptr);
    return drained(*out);
}

// Own certificate, own key.
struct Identity {
    Key key = fresh_key();
    Certificate certificate;

    explicit Identity(const Wanted& wanted) : certificate(tls::certificate(wanted, *key, *key)) {}
    Identity(const Wanted& wanted, const Identity& issuer)
        : certificate(tls::certificate(wanted, *key, *issuer.key, issuer.certificate.get())) {}
};

}  // namespace retryd::tls
