#include "tls/pem.hpp"

#include <openssl/err.h>
#include <openssl/pem.h>

#include <string>

namespace retryd::tls {

using model::Problem;
using model::ProblemCode;
using model::Result;

namespace {

Problem wrong(std::string what, std::string hint) {
    return {ProblemCode::bad_value, {}, std::move(what), std::move(hint)};
}

Bytes bytes_of(std::string_view text) {
    return Bytes{BIO_new_mem_buf(text.data(), static_cast<int>(text.size()))};
}

// Takes OpenSSL's word for why the last call failed, and leaves no word behind.
bool came_to_the_end() {
    const bool end = ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE;
    ERR_clear_error();
    return end;
}

// Instead of OpenSSL's own, which asks the terminal.
int no_passphrase(char*, int, int, void* asked) {
    *static_cast<bool*>(asked) = true;
    return -1;
}

}  // namespace

Result<std::vector<Certificate>> read_certificates(std::string_view pem) {
    std::vector<Certificate> found;
    const Bytes bytes = bytes_of(pem);
    for (;;) {
        bool asked = false;
        Certificate next{PEM_read_bio_X509(bytes.get(), nullptr, &no_passphrase, &asked)};
        if (next) {
            found.push_back(std::move(next));
        } else if (!came_to_the_end()) {
            return wrong("holds a damaged certificate, number " + std::to_string(found.size() + 1), {});
        } else if (found.empty()) {
            return wrong("holds no certificate in PEM form", "PEM is text with a line -----BEGIN CERTIFICATE-----");
        } else {
            return found;
        }
    }
}

Result<Key> read_key(std::string_view pem) {
    const Bytes bytes = bytes_of(pem);
    bool asked = false;
    Key key{PEM_read_bio_PrivateKey(bytes.get(), nullptr, &no_passphrase, &asked)};
    if (key) return key;
    const bool none = pem.find("PRIVATE KEY-----") == std::string_view::npos;
    ERR_clear_error();
    if (asked)
        return wrong("holds a key under a passphrase, and nobody is there to type it",
                     "openssl pkey writes it without one; let nobody but retryd read that file");
    if (none) return wrong("holds no private key in PEM form", "PEM is text with a line such as -----BEGIN PRIVATE KEY-----");
    return wrong("holds a damaged private key", {});
}

bool belong_together(const X509& certificate, const EVP_PKEY& key) {
    const bool same = X509_check_private_key(&certificate, &key) == 1;
    ERR_clear_error();
    return same;
}

}  // namespace retryd::tls
