#include "policyfile/addresses.hpp"
#include "policyfile/broker_reader.hpp"
#include "tls/pem.hpp"

namespace retryd::policyfile {

using model::ProblemCode;
using model::Result;
using model::TlsPolicy;

namespace {

constexpr std::size_t longest_bundle = 16 * 1024 * 1024;  // of authorities: a system's has some 200 KiB

template <class T>
std::optional<T> taken(const Field& field, Values& values, Result<T> read) {
    if (read) return std::move(*read);
    values.fault(field, Values::shown(field) + " " + read.error().what, read.error().hint, read.error().code);
    return std::nullopt;
}

std::optional<std::vector<tls::Certificate>> certificates_of(const Field& field, Values& values) {
    const std::optional<std::string> pem = values.file(field, longest_bundle);
    if (!pem) return std::nullopt;
    return taken(field, values, tls::read_certificates(*pem));
}

std::optional<tls::Key> key_of(const Field& field, Values& values) {
    const std::optional<std::string> pem = values.file(field);
    if (!pem) return std::nullopt;
    return taken(field, values, tls::read_key(*pem));
}

void read_identity(const Field& cert_file, const Field& key_file, Values& values, TlsPolicy& out) {
    if (cert_file.absent() && key_file.absent()) return;
    if (cert_file.absent())
        return values.fault(key_file, "a key without its certificate", "tls.cert_file beside it", ProblemCode::missing);
    if (key_file.absent())
        return values.fault(cert_file, "a certificate without its key", "tls.key_file beside it; it may be the same file",
                            ProblemCode::missing);
    out.cert_file = values.text(cert_file).value_or("");
    out.key_file = values.text(key_file).value_or("");
    const auto chain = certificates_of(cert_file, values);
    const auto key = key_of(key_file, values);
    if (chain && key && !tls::belong_together(*chain->front(), **key))
        values.fault(key_file, Values::shown(key_file) + " is not the key of the certificate in tls.cert_file",
                     "the first certificate there must be our own");
}

void read_server_name(const Field& field, Values& values, std::string& out) {
    const std::optional<std::string> name = values.text(field);
    if (!name) return;
    if (is_host(*name)) {
        out = *name;
    } else {
        values.fault(field, Values::shown(field) + " is no name or address",
                     "as in the broker's certificate, without port and *");
    }
}

void read_verify(const Field& tls, Values& values, bool& out) {
    const Field verify = tls.at("verify");
    values.choose<bool>(verify, {{"true", true}, {"false", false}}, out);
    if (out) return;
    values.faults().warn(verify.get().place,
                         "tls.verify: false: whoever answers is believed to be the broker; anybody on the way can read and "
                         "change everything, the password too",
                         "tls.ca_file with the authority of the broker's certificate");
}

}  // namespace

void read_tls(const Field& tls, Values& values, TlsPolicy& out) {
    const Field ca_file = tls.at("ca_file");
    if (!ca_file.absent() && certificates_of(ca_file, values)) out.ca_file = values.text(ca_file).value_or("");
    read_identity(tls.at("cert_file"), tls.at("key_file"), values, out);
    read_server_name(tls.at("server_name"), values, out.server_name);
    read_verify(tls, values, out.verify);
}

}  // namespace retryd::policyfile
