#include "policyfile/broker_uri.hpp"
#include "unit/policyfile/policy_text.hpp"

#include <catch2/catch.hpp>

using namespace retryd;
using namespace retryd::policyfile;

namespace {

struct Row {
    std::string uri, read;
};

std::string read(const std::string& uri) {
    const auto parsed = parse_broker_uri(uri);
    if (!parsed) return parsed.error().what;
    const model::BrokerAddress& address = parsed->address;
    return address.user + "|" + address.password + "|" + address.host + "|" + std::to_string(address.port) + "|" +
           address.vhost + (address.tls ? "|tls" : "");
}

void check_rows(const std::string& before, const std::vector<Row>& rows) {
    for (const Row& row : rows) {
        INFO(row.uri);
        CHECK(read(row.uri) == (row.read.find('|') == std::string::npos ? before : "") + row.read);
    }
}

}  // namespace

TEST_CASE("a broker URI is read to its parts") {
    check_rows("", {
                       {"amqp://h", "guest|guest|h|5672|/"},
                       {"AMQP://h", "guest|guest|h|5672|/"},
                       {"amqp://h/", "guest|guest|h|5672|/"},
                       {"amqp://h/%2f", "guest|guest|h|5672|/"},
                       {"amqp://h/v", "guest|guest|h|5672|v"},
                       {"amqp://u:p@h:1/v%2Fw", "u|p|h|1|v/w"},
                       {"amqp://h:65535", "guest|guest|h|65535|/"},
                       {"amqp://rabbit-1.my_ns.svc.cluster.local.", "guest|guest|rabbit-1.my_ns.svc.cluster.local.|5672|/"},
                       {"amqp://10.0.0.1", "guest|guest|10.0.0.1|5672|/"},
                       {"amqp://u:@[fe80::1]:5673", "u||fe80::1|5673|/"},
                       {"amqp://[::ffff:10.0.0.1]/v", "guest|guest|::ffff:10.0.0.1|5672|v"},
                       {"amqps://h", "guest|guest|h|5671|/|tls"},
                       {"amqps://u:p@[::1]:5672/v", "u|p|::1|5672|v|tls"},
                   });
}

TEST_CASE("every byte of user, password and vhost can be written percent-encoded") {
    check_rows("", {
                       {"amqp://svc:p%40s%3As%2Fw%23rd%3F%25@h", "svc|p@s:s/w#rd?%|h|5672|/"},
                       {"amqp://%75s%65r:%5c%20%7e@h/%c3%a9%3F", "user|\\ ~|h|5672|é?"},
                       {"amqp://a%2525:b@h", "a%25|b|h|5672|/"},  // decoded once
                       {"amqp://u!$&'()*+,;=:p!$&'()*+,;=~-._@h", "u!$&'()*+,;=|p!$&'()*+,;=~-._|h|5672|/"},
                   });
}

TEST_CASE("what a raw password shifts is refused, not guessed") {
    check_rows("the broker URI has ",
               {
                   {"amqp://svc:p@s@h", "a second @"},
                   {"amqp://svc:p:s@h", "a second : in its user part"},
                   {"amqp://svc:p/s@h", "an @ after its first /"},
                   {"amqp://svc:p#s@h", "a ? or # in it; no query is read"},
                   {"amqp://svc:p?s@h", "a ? or # in it; no query is read"},
                   {"amqp://svc:p\\s@h", "a \\ in it, which some read as /"},
                   {"amqp://svc:p s@h", "a space or a control character in it"},
                   {"amqp://svc:p\ns@h", "a space or a control character in it"},
                   {"amqp://svc:p%s@h", "a % that begins no %XX, or a control character, in its user part"},
                   {"amqp://svc:p%4@h", "a % that begins no %XX, or a control character, in its user part"},
                   {"amqp://svc:p%@h", "a % that begins no %XX, or a control character, in its user part"},
                   {"amqp://svc:p%00@h", "a % that begins no %XX, or a control character, in its user part"},
                   {"amqp://s%0avc:p@h", "a % that begins no %XX, or a control character, in its user part"},
                   {"amqp://svc@h", "a user without a password"},
                   {"amqp://@h", "a user without a password"},
                   {"amqp://:p@h", "an empty user"},
               });
}

TEST_CASE("host, port and vhost are held to their forms") {
    check_rows("the host part of the broker URI can't be read: ",
               {
                   {"amqp://", "it has no host"},
                   {"amqp:///v", "it has no host"},
                   {"amqp://:5672", "it has no host"},
                   {"amqp://u:p@/v", "it has no host"},
                   {"amqp://a..b", "its host is no name or address"},
                   {"amqp://.a", "its host is no name or address"},
                   {"amqp://10.1", "its host is no name or address"},
                   {"amqp://256.0.0.1", "its host is no name or address"},
                   {"amqp://10.0.0.01", "its host is no name or address"},
                   {"amqp://ho%61st", "its host is no name or address"},
                   {"amqp://h\xc3\xb6st", "its host is no name or address"},
                   {"amqp://a,b", "its host is no name or address"},
                   {"amqp://::1", "an IPv6 address stands without brackets"},
                   {"amqp://::1:5672", "an IPv6 address stands without brackets"},
                   {"amqp://[::1", "its [ is not closed"},
                   {"amqp://[:::1]", "what stands in brackets is not an IPv6 address"},
                   {"amqp://[10.0.0.1]", "what stands in brackets is not an IPv6 address"},
                   {"amqp://[v1.x]", "what stands in brackets is not an IPv6 address"},
                   {"amqp://[fe80::1%25eth0]", "an IPv6 address with a zone is not taken"},
                   {"amqp://[::1]5672", "something unknown follows the ]"},
                   {"amqp://h:", "its port is empty"},
                   {"amqp://h:0", "its port is out of range"},
                   {"amqp://h:65536", "its port is out of range"},
                   {"amqp://h:99999999999999999999", "its port is far too large"},
                   {"amqp://h:08080", "its port has a leading zero, which some read as octal"},
                   {"amqp://h:-1", "its port is negative"},
                   {"amqp://h:5672x", "its port is not a whole number"},
                   {"amqp://h:1:2", "its port is not a whole number"},
               });
    check_rows("the broker URI has ", {
                                          {"amqp://h/a/b", "a second / after the host"},
                                          {"amqp://h//", "a second / after the host"},
                                          {"amqp://h/%", "a % that begins no %XX, or a control character, in its vhost"},
                                          {"amqp://h/%00", "a % that begins no %XX, or a control character, in its vhost"},
                                          {"amqp://h/" + std::string(256, 'v'), "a vhost over 255 bytes"},
                                          {"amqp://h?heartbeat=5", "a ? or # in it; no query is read"},
                                          {"amqp://h/v?heartbeat=5", "a ? or # in it; no query is read"},
                                      });
    for (const char* other : {"", "h", "http://h", "amqp:h", "amqp:/h", "amqp+ssl://h", " amqp://h", "://h"})
        CHECK(read(other) == "the broker URI does not begin with amqp:// or amqps://");
}

TEST_CASE("no fault of a broker URI repeats any part of it") {
    static const std::string secret = "Kn0wN-oNly-t0-us";
    for (const std::string shift :
         {"@", ":", "/", "#", "?", "%", " ", "\\", "\n", "\x01", "[", "]", "%zz", "%00", "@/", "/@", ":@"}) {
        for (const std::string& form : {"amqp://svc:" + shift + secret + "@h", "amqp://svc:" + secret + shift + "@h",
                                        "amqps://" + secret + shift + "h", "amqp//svc:" + secret + shift + "@h",
                                        "amqp://svc:x" + shift + secret + "@" + shift, "amqp://h:" + secret + shift}) {
            INFO(form);
            const auto parsed = parse_broker_uri(form);
            if (!parsed) CHECK(to_text(parsed.error()).find(secret) == std::string::npos);
            for (const std::string& fault : faults_of("broker: {uri: [\"${env:URI}\", amqp://h]}\nqueues: {w: \"http://c\"}\n",
                                                      {.variables = {{"URI", form}}, .files = {}}))
                CHECK(fault.find(secret) == std::string::npos);
        }
    }
}

TEST_CASE("a URI is shown without its password") {
    CHECK(without_password("amqp://u:p@h/v") == "amqp://u:***@h/v");
    CHECK(without_password("amqp://u:p@s@h") == "amqp://u:***@h");
    CHECK(without_password("amqps://u:${env:PW}@h:1/v") == "amqps://u:***@h:1/v");
    CHECK(without_password("amqps://h") == "amqps://h");
    CHECK(without_password("${env:URI}") == "${env:URI}");
}
