#include "policyfile/broker_reader.hpp"

#include "policyfile/broker_uri.hpp"

#include <algorithm>

namespace retryd::policyfile {

using namespace std::chrono_literals;
using model::BrokerAuth;
using model::BrokerPolicy;
using model::Milliseconds;
using model::ProblemCode;
using model::Result;

namespace {

void read_heartbeat(const Field& field, Values& values, std::chrono::seconds& out) {
    Milliseconds heartbeat = out;
    values.read(field, {1s, 1h}, heartbeat);
    out = std::chrono::duration_cast<std::chrono::seconds>(heartbeat);
    if (out != heartbeat) values.fault(field, Values::shown(field) + " is not whole seconds", "the broker counts in seconds");
}

// The certificate says who we are: a user beside it would be a second answer.
void read_user(const Field& item, Values& values, BrokerAuth auth, BrokerUri& uri) {
    if (auth == BrokerAuth::plain) return;
    if (uri.names_user)
        values.fault(item, "it has a user, but broker.auth is external: the certificate says who we are", "amqps://HOST/VHOST");
    uri.address.user.clear();
    uri.address.password.clear();
}

void read_addresses(const Field& uri, Values& values, BrokerPolicy& out) {
    for (const Field& item : values.one_or_more(uri)) {
        const std::optional<std::string> text = values.text(item);
        if (!text) continue;
        Result<BrokerUri> read = parse_broker_uri(*text);
        if (!read) {
            values.fault(item, read.error().what, read.error().hint, read.error().code);
            continue;
        }
        read_user(item, values, out.auth, *read);
        out.addresses.push_back(std::move(read->address));
        if (out.addresses.back().tls != out.addresses.front().tls)
            values.fault(item, "some of the URIs are amqps:// and some are not",
                         "all of them amqps://, or whoever keeps us from one broker makes us speak in clear to the next");
    }
}

// A key of `broker.tls` that somebody wrote; nothing: none.
std::optional<Field> written_key(const Field& tls) {
    for (const Entry& entry : tls.get().entries) {
        const Field key = tls.at(entry.key);
        if (!key.built_in()) return key;
    }
    return std::nullopt;
}

// What the keys of `broker` say of each other.
void check_tls_is_used(const Field& broker, Values& values, const BrokerPolicy& policy) {
    if (policy.addresses.empty()) return;
    const bool tls = policy.addresses.front().tls;
    const std::optional<Field> key = written_key(broker.at("tls"));
    if (key && !tls)
        values.fault(*key, "the uri is amqp://, which is spoken in clear",
                     "write amqps:// (port 5671), or leave broker.tls out");
    if (policy.auth == BrokerAuth::external && (!tls || policy.tls.cert_file.empty()))
        values.fault(broker.at("auth"), "external needs a certificate that says who we are",
                     "amqps://, tls.cert_file and tls.key_file");
}

}  // namespace

void read_broker(const Field& broker, Place start, Values& values, BrokerPolicy& out) {
    const Field uri = broker.at("uri");
    if (uri.absent() && uri.built_in()) {
        const Place place = broker.built_in() ? start : broker.get().place;
        values.faults().add(place, ProblemCode::missing, "the broker's uri is missing",
                            "broker: amqp://guest:guest@127.0.0.1:5672/");
    }
    values.choose<BrokerAuth>(broker.at("auth"), {{"plain", BrokerAuth::plain}, {"external", BrokerAuth::external}}, out.auth);
    read_addresses(uri, values, out);
    read_heartbeat(broker.at("heartbeat"), values, out.heartbeat);
    values.read(broker.at("connect_timeout"), {100ms, 5min}, out.connect_timeout);
    values.read(broker.at("confirm_timeout"), {100ms, 1h}, out.confirm_timeout);
    read_tls(broker.at("tls"), values, out.tls);
    check_tls_is_used(broker, values, out);
}

}  // namespace retryd::policyfile
