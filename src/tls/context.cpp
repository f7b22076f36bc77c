#include "tls/context.hpp"

#include "tls/pem.hpp"

#include <openssl/err.h>

#include <arpa/inet.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace retryd::tls {

using model::Problem;
using model::ProblemCode;
using model::Result;

namespace {

constexpr std::size_t longest_file = 16 * 1024 * 1024;

Problem wrong(const std::string& file, const std::string& what) {
    return {ProblemCode::system, {}, file + ": " + what, {}};
}

Result<std::string> read_descriptor(int descriptor, const std::string& file) {
    struct stat facts {};
    if (::fstat(descriptor, &facts) != 0) return wrong(file, std::strerror(errno));
    if (!S_ISREG(facts.st_mode)) return wrong(file, "is no regular file, and it is read again for each connection");
    std::string text;
    for (;;) {
        std::array<char, 16384> chunk{};
        const ssize_t count = ::read(descriptor, chunk.data(), chunk.size());
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return wrong(file, std::strerror(errno));
        if (count == 0) return text;
        text.append(chunk.data(), static_cast<std::size_t>(count));
        if (text.size() > longest_file) return wrong(file, "is too large for certificates");
    }
}

Result<std::string> read_file(const std::string& file) {
    const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);  // a pipe must not hang it
    if (descriptor < 0) return wrong(file, std::strerror(errno));
    Result<std::string> text = read_descriptor(descriptor, file);
    ::close(descriptor);
    return text;
}

Result<std::vector<Certificate>> certificates_in(const std::string& file) {
    const Result<std::string> text = read_file(file);
    if (!text) return text.error();
    Result<std::vector<Certificate>> found = read_certificates(*text);
    if (!found) return wrong(file, found.error().what);
    return found;
}

Result<Key> key_in(const std::string& file) {
    const Result<std::string> text = read_file(file);
    if (!text) return text.error();
    Result<Key> key = read_key(*text);
    if (!key) return wrong(file, key.error().what);
    return key;
}

// The last word of OpenSSL, which has refused something that we read well, such as a key that is too short for it.
Problem refused_by_library(const std::string& file) {
    const char* const why = ERR_reason_error_string(ERR_peek_last_error());
    ERR_clear_error();
    return wrong(file, std::string{"is not taken by OpenSSL: "} + (why == nullptr ? "no reason given" : why));
}

}  // namespace

Result<void> trust(SSL_CTX& context, const std::string& file) {
    if (file.empty()) {
        if (SSL_CTX_set_default_verify_paths(&context) != 1) return refused_by_library("the system's store of authorities");
        return {};
    }
    const auto authorities = certificates_in(file);
    if (!authorities) return authorities.error();
    for (const Certificate& authority : *authorities) X509_STORE_add_cert(SSL_CTX_get_cert_store(&context), authority.get());
    return {};
}

Result<void> identify(SSL_CTX& context, const std::string& cert_file, const std::string& key_file) {
    const auto chain = certificates_in(cert_file);
    if (!chain) return chain.error();
    const auto key = key_in(key_file);
    if (!key) return key.error();
    if (!belong_together(*chain->front(), **key)) return wrong(key_file, "is not the key of the certificate in " + cert_file);
    if (SSL_CTX_use_certificate(&context, chain->front().get()) != 1) return refused_by_library(cert_file);
    for (std::size_t i = 1; i < chain->size(); ++i)
        if (SSL_CTX_add1_chain_cert(&context, (*chain)[i].get()) != 1) return refused_by_library(cert_file);
    if (SSL_CTX_use_PrivateKey(&context, key->get()) != 1) return refused_by_library(key_file);
    return {};
}

void expect(SSL_CTX& context, const std::string& name) {
    X509_VERIFY_PARAM* const wanted = SSL_CTX_get0_param(&context);
    X509_VERIFY_PARAM_set_hostflags(wanted, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT);
    X509_VERIFY_PARAM_set_flags(wanted, X509_V_FLAG_PARTIAL_CHAIN);
    if (is_address(name)) {
        X509_VERIFY_PARAM_set1_ip_asc(wanted, name.c_str());
    } else {
        X509_VERIFY_PARAM_set1_host(wanted, name.data(), name.size());
    }
}

bool is_address(const std::string& name) {
    std::array<unsigned char, sizeof(in6_addr)> parsed{};
    return ::inet_pton(AF_INET, name.c_str(), parsed.data()) == 1 || ::inet_pton(AF_INET6, name.c_str(), parsed.data()) == 1;
}

}  // namespace retryd::tls
