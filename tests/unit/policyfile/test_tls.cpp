#include "unit/policyfile/policy_text.hpp"
#include "unit/tls/paper.hpp"

#include <catch2/catch.hpp>

using namespace retryd;
using namespace retryd::policyfile;

namespace {

const std::string queues = "queues: {w: \"http://c\"}\n";

// Files of one identity, of another's key, and of things that are neither.
const Surroundings& around() {
    static const Surroundings made = [] {
        const tls::Identity own{{.name = "own"}};
        const tls::Identity other{{.name = "other"}};
        Surroundings surroundings;
        surroundings.files = {{"/cert", tls::pem_of(*own.certificate)},
                              {"/key", tls::pem_of(*own.key)},
                              {"/both", tls::pem_of(*own.key) + tls::pem_of(*own.certificate)},
                              {"/other", tls::pem_of(*other.key)},
                              {"/locked", tls::pem_of(*own.key, "hush-hush")},
                              {"/der", "\x30\x82"},
                              {"/large", std::string(100'000, '#') + "\n" + tls::pem_of(*own.certificate)}};
        return surroundings;
    }();
    return made;
}

struct Row {
    std::string broker;  // the mapping's inside
    std::string fault;   // begins so
};

void check_rows(const std::vector<Row>& rows) {
    for (const Row& row : rows) {
        const auto faults = faults_of("broker: {" + row.broker + "}\n" + queues, around());
        INFO(row.broker);
        for (const std::string& fault : faults) UNSCOPED_INFO(fault);
        REQUIRE(faults.size() == 1);
        CHECK(faults[0].substr(0, row.fault.size()) == row.fault);
    }
}

model::BrokerPolicy good(const std::string& broker) {
    const Loaded loaded = load("broker: {" + broker + "}\n" + queues, around());
    for (const auto& problem : loaded.problems) UNSCOPED_INFO(to_text(problem));
    REQUIRE(loaded.policy);
    return loaded.policy->broker;
}

}  // namespace

TEST_CASE("amqps verifies against the system's store unless the policy says more") {
    const auto standard = good("uri: amqps://h");
    CHECK(standard.addresses.at(0).tls);
    CHECK(standard.addresses.at(0).port == 5671);
    CHECK(standard.addresses.at(0).user == "guest");
    CHECK(standard.tls.verify);
    CHECK(standard.tls.ca_file.empty());
    CHECK(standard.auth == model::BrokerAuth::plain);
    const auto full = good(
        "uri: [amqps://a, \"amqps://b:1\"], auth: external, tls: {ca_file: /large, cert_file: /cert, "
        "key_file: /key, server_name: rabbit.example, verify: true}");
    CHECK(full.tls.ca_file == "/large");
    CHECK(full.tls.cert_file == "/cert");
    CHECK(full.tls.key_file == "/key");
    CHECK(full.tls.server_name == "rabbit.example");
    CHECK(full.auth == model::BrokerAuth::external);
    CHECK(full.addresses.at(1).user.empty());
    CHECK(full.addresses.at(1).password.empty());
    CHECK(to_text(full.addresses.at(1)) == "b:1//");
    CHECK(good("uri: amqps://h, tls: {cert_file: /both, key_file: /both}").tls.key_file == "/both");
}

TEST_CASE("a file that can't serve is refused at its place") {
    check_rows({
        {"uri: amqps://h, tls: {ca_file: /no}", "1:41: broker.tls.ca_file: names the file \"/no\": No such file or directory"},
        {"uri: amqps://h, tls: {ca_file: /der}", "1:41: broker.tls.ca_file: \"/der\" holds no certificate in PEM form"},
        {"uri: amqps://h, tls: {ca_file: /key}", "1:41: broker.tls.ca_file: \"/key\" holds no certificate in PEM form"},
        {"uri: amqps://h, tls: {ca_file: [/cert]}", "1:41: broker.tls.ca_file: a list stands here"},
        {"uri: amqps://h, tls: {cert_file: /cert}", "1:43: broker.tls.cert_file: a certificate without its key"},
        {"uri: amqps://h, tls: {key_file: /key}", "1:42: broker.tls.key_file: a key without its certificate"},
        {"uri: amqps://h, tls: {cert_file: /key, key_file: /key}",
         "1:43: broker.tls.cert_file: \"/key\" holds no certificate in PEM form"},
        {"uri: amqps://h, tls: {cert_file: /cert, key_file: /cert}",
         "1:60: broker.tls.key_file: \"/cert\" holds no private key in PEM form"},
        {"uri: amqps://h, tls: {cert_file: /cert, key_file: /other}",
         "1:60: broker.tls.key_file: \"/other\" is not the key of the certificate in tls.cert_file"},
        {"uri: amqps://h, tls: {cert_file: /cert, key_file: /locked}",
         "1:60: broker.tls.key_file: \"/locked\" holds a key under a passphrase, and nobody is there to type it; openssl pkey"},
        {"uri: amqps://h, tls: {server_name: \"*.example\"}",
         "1:45: broker.tls.server_name: \"*.example\" is no name or address"},
        {"uri: amqps://h, tls: {server_name: \"h:5671\"}", "1:45: broker.tls.server_name: \"h:5671\" is no name or address"},
        {"uri: amqps://h, tls: {verify: no}", "1:40: broker.tls.verify: \"no\" is none of its words; one of: true, false"},
        {"uri: amqps://h, tls: {cafile: /cert}", "1:32: unknown key \"broker.tls.cafile\"; did you mean ca_file?"},
    });
}

TEST_CASE("what is said of TLS must hold together") {
    check_rows({
        {"uri: amqp://h, tls: {ca_file: /cert}",
         "1:40: broker.tls.ca_file: the uri is amqp://, which is spoken in clear; write amqps:// (port 5671)"},
        {"uri: amqp://h, tls: {verify: true}", "1:39: broker.tls.verify: the uri is amqp://"},
        {"uri: [amqps://h, amqp://h]", "1:27: broker.uri: some of the URIs are amqps:// and some are not"},
        {"uri: amqp://h, auth: external", "1:31: broker.auth: external needs a certificate that says who we are"},
        {"uri: amqps://h, auth: external", "1:32: broker.auth: external needs a certificate"},
        {"uri: \"amqps://u:p@h\", auth: external, tls: {cert_file: /cert, key_file: /key}",
         "1:15: broker.uri: it has a user, but broker.auth is external"},
        {"uri: amqps://h, auth: kerberos", "1:32: broker.auth: \"kerberos\" is none of its words; one of: plain, external"},
    });
}

TEST_CASE("verification that is off is warned of loudly") {
    const Loaded loaded = load("broker: {uri: amqps://h, tls: {ca_file: /cert, verify: false}}\n" + queues, around());
    REQUIRE(loaded.policy);
    CHECK_FALSE(loaded.policy->broker.tls.verify);
    REQUIRE(loaded.warnings.size() == 1);
    const std::string warning = to_text(loaded.warnings[0]);
    CHECK(warning.find("p.yaml:1:56: tls.verify: false: whoever answers is believed to be the broker; anybody") == 0);
    CHECK(load("broker: amqps://h\n" + queues).warnings.empty());
}

TEST_CASE("the effective view shows the files of TLS by their names only") {
    const std::string text = "broker: {uri: \"amqps://svc:hush@h\", tls: {cert_file: /cert, key_file: /key}}\n" + queues;
    const auto values = effective_values_of_text(text, "p.yaml", "w", around().environment());
    REQUIRE(values);
    std::string all;
    for (const EffectiveValue& value : *values) all += value.key + "=" + value.value + (value.later ? " later\n" : "\n");
    CHECK(all.find("broker.tls.key_file=/key\n") != std::string::npos);
    CHECK(all.find("broker.tls.verify=true\n") != std::string::npos);
    CHECK(all.find("broker.auth=plain\n") != std::string::npos);
    CHECK(all.find("hush") == std::string::npos);
    CHECK(all.find("PRIVATE") == std::string::npos);
}
