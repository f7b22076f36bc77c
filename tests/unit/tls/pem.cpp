#include "tls/pem.hpp"

#include "unit/tls/paper.hpp"

#include <catch2/catch.hpp>

using namespace retryd::tls;

namespace {

std::string trouble_of(const std::string& pem) {
    const auto read = read_certificates(pem);
    return read ? "none" : read.error().what;
}

std::string key_trouble_of(const std::string& pem) {
    const auto read = read_key(pem);
    return read ? "none" : read.error().what;
}

}  // namespace

TEST_CASE("every certificate of a PEM text is read, whatever else stands in it") {
    const Identity one{{.name = "one"}};
    const Identity two{{.name = "two"}};
    const std::string text = "# ours\n" + pem_of(*one.certificate) + pem_of(*one.key) + "\nand:\n" + pem_of(*two.certificate);
    const auto both = read_certificates(text);
    REQUIRE(both.has_value());
    REQUIRE(both->size() == 2);
    CHECK(X509_cmp(both->at(1).get(), two.certificate.get()) == 0);
    std::string cut = pem_of(*one.certificate);
    cut.pop_back();  // as a secret file is read: without the last line end
    CHECK(trouble_of(cut) == "none");
}

TEST_CASE("a text without a certificate, or with a damaged one, says so") {
    const Identity own{{.name = "own"}};
    const std::string whole = pem_of(*own.certificate);
    CHECK(trouble_of("") == "holds no certificate in PEM form");
    CHECK(trouble_of(std::string("\x30\x82\x01\x0a\x00\xff", 6)) == "holds no certificate in PEM form");
    CHECK(trouble_of(pem_of(*own.key)) == "holds no certificate in PEM form");
    CHECK(trouble_of(whole.substr(0, whole.size() / 2)) == "holds a damaged certificate, number 1");
    CHECK(trouble_of(whole + "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n") ==
          "holds a damaged certificate, number 2");
}

TEST_CASE("a private key is read, and one under a passphrase is refused without asking anybody") {
    const Identity own{{.name = "own"}};
    const auto key = read_key(pem_of(*own.certificate) + pem_of(*own.key));
    REQUIRE(key.has_value());
    CHECK(belong_together(*own.certificate, **key));
    CHECK_FALSE(belong_together(*own.certificate, *fresh_key()));
    CHECK(key_trouble_of(pem_of(*own.key, "hush")) == "holds a key under a passphrase, and nobody is there to type it");
    CHECK(key_trouble_of(pem_of(*own.certificate)) == "holds no private key in PEM form");
    CHECK(key_trouble_of("-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n") == "holds a damaged private key");
    CHECK(key_trouble_of("") == "holds no private key in PEM form");
}
