#include "tls/reasons.hpp"

#include "tls/context.hpp"
#include "unit/temp_folder.hpp"
#include "unit/tls/paper.hpp"

#include <catch2/catch.hpp>

#include <openssl/ssl.h>

#include <fstream>
#include <memory>

using namespace retryd;
using namespace retryd::tls;

namespace {

struct FreeContext {
    void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
    void operator()(X509_STORE_CTX* verification) const { X509_STORE_CTX_free(verification); }
};

// What a client that expects `name`, and trusts `trusted`, thinks of the chain that a broker shows: "" is: good.
std::string judged(const std::vector<X509*>& shown, const std::string& name, X509* trusted) {
    const std::unique_ptr<SSL_CTX, FreeContext> context{SSL_CTX_new(TLS_client_method())};
    expect(*context, name);
    if (trusted != nullptr) X509_STORE_add_cert(SSL_CTX_get_cert_store(context.get()), trusted);
    const std::unique_ptr<X509_STORE_CTX, FreeContext> verification{X509_STORE_CTX_new()};
    STACK_OF(X509)* const chain = sk_X509_new_null();
    for (X509* one : shown) sk_X509_push(chain, one);
    X509_STORE_CTX_init(verification.get(), SSL_CTX_get_cert_store(context.get()), shown.front(), chain);
    X509_STORE_CTX_set_default(verification.get(), "ssl_server");
    X509_VERIFY_PARAM_set1(X509_STORE_CTX_get0_param(verification.get()), SSL_CTX_get0_param(context.get()));
    const bool good = X509_verify_cert(verification.get()) == 1;
    const std::string why = good ? "" : why_not_trusted(*verification, {name, "tls.ca_file"});
    sk_X509_free(chain);
    return why;
}

const Identity& authority() {
    static const Identity made{{.name = "Authority", .authority = true}};
    return made;
}

std::string judged(const Wanted& wanted, const std::string& name) {
    const Identity own{wanted, authority()};
    return judged({own.certificate.get()}, name, authority().certificate.get());
}

bool begins(const std::string& text, const std::string& with) {
    return text.substr(0, with.size()) == with;
}

}  // namespace

TEST_CASE("a certificate is for the hosts and addresses of its subjectAltName, and nothing else") {
    struct Row {
        std::string hosts, name, why;  // `why` empty: good
    };
    const std::vector<Row> rows{
        {"DNS:localhost", "localhost", ""},
        {"DNS:localhost", "LOCALHOST", ""},
        {"DNS:localhost", "127.0.0.1", "the broker's certificate is for localhost, not for 127.0.0.1"},
        {"IP:127.0.0.1", "127.0.0.1", ""},
        {"IP:127.0.0.1", "127.0.0.2", "the broker's certificate is for 127.0.0.1, not for 127.0.0.2"},
        {"IP:127.0.0.1", "localhost", "the broker's certificate is for 127.0.0.1, not for localhost"},
        {"DNS:127.0.0.1", "127.0.0.1", "the broker's certificate is for 127.0.0.1, not for 127.0.0.1"},
        {"IP:::1", "::1", ""},
        {"IP:fe80::1", "::1", "the broker's certificate is for fe80:0000:0000:0000:0000:0000:0000:0001, not for ::1"},
        {"DNS:*.b.example", "a.b.example", ""},
        {"DNS:*.b.example", "b.example", "the broker's certificate is for *.b.example, not for b.example"},
        {"DNS:*.b.example", "c.a.b.example", "the broker's certificate is for *.b.example, not for c.a.b.example"},
        {"DNS:a*.b.example", "ax.b.example", "the broker's certificate is for a*.b.example, not for ax.b.example"},
        {"DNS:a,DNS:b,DNS:c,DNS:d,DNS:e,DNS:f", "g", "the broker's certificate is for a, b, c, d, e and others, not for g"},
        {"", "rabbit",
         "the broker's certificate names no host (it has no subjectAltName, and a common name does not count), so "
         "not rabbit either"},
    };
    for (const Row& row : rows) {
        INFO(row.hosts << " for " << row.name);
        CHECK(judged({.name = "rabbit", .hosts = row.hosts}, row.name) == row.why);
    }
}

TEST_CASE("each wrong certificate has its reason") {
    CHECK(judged({.name = "h", .hosts = "DNS:h"}, "h").empty());
    CHECK(begins(judged({.name = "h", .hosts = "DNS:h", .until = -10}, "h"),
                 "the broker's certificate (CN=h) has expired: it was valid until 2"));
    CHECK(begins(judged({.name = "h", .hosts = "DNS:h", .from = 5000}, "h"),
                 "the broker's certificate (CN=h) is not valid yet: it will be from 2"));
    CHECK(begins(judged({.name = "h", .hosts = "DNS:h", .usage = "clientAuth"}, "h"),
                 "the broker's certificate (CN=h) is not made for this"));
    const Identity alone{{.name = "h", .hosts = "DNS:h"}};
    CHECK(judged({alone.certificate.get()}, "h", authority().certificate.get()) ==
          "the broker's certificate (CN=h) is self-signed, and it is not in tls.ca_file");
    CHECK(judged({alone.certificate.get()}, "h", alone.certificate.get()).empty());
    const Identity other{{.name = "Other", .authority = true}};
    const Identity own{{.name = "h", .hosts = "DNS:h"}, other};
    const std::string unknown = "the broker's certificate comes from an unknown authority: CN=Other is not in tls.ca_file";
    CHECK(judged({own.certificate.get()}, "h", authority().certificate.get()) == unknown);
    CHECK(judged({own.certificate.get(), other.certificate.get()}, "h", authority().certificate.get()) == unknown);
    CHECK(judged({own.certificate.get()}, "h", own.certificate.get()).empty());
}

TEST_CASE("an authority above the broker's may be the one that is wrong, and a namesake is none") {
    const Identity middle{{.name = "Middle", .until = -10, .authority = true}, authority()};
    const Identity below{{.name = "h", .hosts = "DNS:h"}, middle};
    CHECK(begins(judged({below.certificate.get(), middle.certificate.get()}, "h", authority().certificate.get()),
                 "the certificate of an authority above the broker's (CN=Middle) has expired"));
    const Identity namesake{{.name = "Authority", .authority = true}};
    const Identity own{{.name = "h", .hosts = "DNS:h"}, namesake};
    CHECK(judged({own.certificate.get()}, "h", authority().certificate.get()) ==
          "the broker's certificate (CN=h) bears a signature that is not of CN=Authority in tls.ca_file");
}

TEST_CASE("names from a certificate are shown printable and short") {
    const std::string why = judged({.name = "a\x1b[31m\n\xc3\xa9" + std::string(40, 'x'), .hosts = "DNS:h", .until = -10}, "h");
    CHECK(why.find_first_of("\x1b\n") == std::string::npos);
    CHECK(why.size() < 250);
}

TEST_CASE("an alert says what the broker has against our certificate") {
    using Shown = ShownCertificate;
    const std::string wants = "the broker asks for a client certificate: set tls.cert_file and tls.key_file";
    CHECK(why_alerted(116, Shown::none) == wants);
    CHECK(why_alerted(40, Shown::none) == wants);
    CHECK(begins(why_alerted(40, Shown::not_asked), "the broker ended TLS: handshake failure"));
    CHECK(why_alerted(48, Shown::ours) ==
          "the broker refuses our certificate (tls.cert_file): it does not know the authority that signed it");
    CHECK(why_alerted(45, Shown::ours) ==
          "the broker refuses our certificate (tls.cert_file): it has expired, or is not valid yet");
    CHECK(why_alerted(44, Shown::ours) == "the broker refuses our certificate (tls.cert_file): it was revoked");
    CHECK(why_alerted(42, Shown::ours) == "the broker refuses our certificate (tls.cert_file): bad certificate");
    CHECK(why_alerted(48, Shown::not_asked) == "the broker ended TLS: unknown CA");
    CHECK(begins(why_alerted(70, Shown::ours), "the broker ended TLS: protocol version (it speaks neither TLS 1.2 nor 1.3)"));
    CHECK(begins(why_alerted(200, Shown::ours), "the broker ended TLS: "));
}

TEST_CASE("a file that has gone wrong since the start is named") {
    const TempFolder folder;
    const auto file = [&](const std::string& name, const std::string& text) {
        const std::string path = folder.path + "/" + name;
        std::ofstream(path) << text;
        return path;
    };
    const Identity own{{.name = "own"}};
    const Identity other{{.name = "other"}};
    const std::string cert = file("cert", pem_of(*own.certificate));
    const std::string key = file("key", pem_of(*own.key));
    const std::string wrong_key = file("wrong", pem_of(*other.key));
    const auto context = [] { return std::unique_ptr<SSL_CTX, FreeContext>{SSL_CTX_new(TLS_client_method())}; };
    CHECK(identify(*context(), cert, key).has_value());
    CHECK(identify(*context(), cert, wrong_key).error().what == wrong_key + ": is not the key of the certificate in " + cert);
    CHECK(identify(*context(), cert, "/no").error().what == "/no: No such file or directory");
    CHECK(trust(*context(), key).error().what == key + ": holds no certificate in PEM form");
    CHECK(trust(*context(), folder.path).error().what ==
          folder.path + ": is no regular file, and it is read again for each connection");
    CHECK(trust(*context(), cert).has_value());
    CHECK(trust(*context(), "").has_value());
}
