#include "tls/reasons.hpp"

#include "tls/openssl.hpp"

#include <openssl/ssl.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <ctime>
#include <string_view>
#include <vector>

namespace retryd::tls {

namespace {

constexpr std::size_t longest_name = 100;
constexpr std::size_t most_names = 5;

std::string printable(std::string_view text) {
    std::string out{text.substr(0, longest_name)};
    std::replace_if(
        out.begin(), out.end(), [](unsigned char c) { return c < 0x20 || c >= 0x7F; }, '?');
    return text.size() > longest_name ? out + "…" : out;
}

std::string_view view(const ASN1_STRING& text) {
    return {reinterpret_cast<const char*>(ASN1_STRING_get0_data(&text)), static_cast<std::size_t>(ASN1_STRING_length(&text))};
}

// "CN=rabbit, O=Example"
std::string text_of(const X509_NAME* name) {
    const Bytes out{BIO_new(BIO_s_mem())};
    X509_NAME_print_ex(out.get(), name, 0, XN_FLAG_ONELINE & ~ASN1_STRFLGS_ESC_MSB & ~XN_FLAG_SPC_EQ);
    char* data = nullptr;
    const auto size = BIO_get_mem_data(out.get(), &data);
    return size > 0 ? printable({data, static_cast<std::size_t>(size)}) : "without a name";
}

std::string text_of(const ASN1_TIME& time) {
    std::tm parts{};
    std::array<char, 64> text{};
    if (ASN1_TIME_to_tm(&time, &parts) != 1) return "an unreadable time";
    std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S UTC", &parts);
    return text.data();
}

std::string address_text(const ASN1_OCTET_STRING& octets) {
    const std::string_view bytes = view(octets);
    std::string out;
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        const auto byte = static_cast<unsigned char>(bytes[i]);
        std::array<char, 8> digits{};
        const char* const form = bytes.size() == 4 ? "%u" : "%02x";
        std::snprintf(digits.data(), digits.size(), form, byte);
        if (i > 0 && (bytes.size() == 4 || i % 2 == 0)) out += bytes.size() == 4 ? '.' : ':';
        out += digits.data();
    }
    return out;
}

// The hosts and addresses that a certificate is for: a common name does not count.
std::vector<std::string> hosts_of(const X509& certificate) {
    std::vector<std::string> hosts;
    const Names names{static_cast<GENERAL_NAMES*>(X509_get_ext_d2i(&certificate, NID_subject_alt_name, nullptr, nullptr))};
    for (int i = 0; i < sk_GENERAL_NAME_num(names.get()); ++i) {
        const GENERAL_NAME& name = *sk_GENERAL_NAME_value(names.get(), i);
        if (name.type == GEN_DNS) hosts.push_back(printable(view(*name.d.dNSName)));
        if (name.type == GEN_IPADD) hosts.push_back(address_text(*name.d.iPAddress));
    }
    return hosts;
}

std::string wrong_host(const X509& certificate, const std::string& wanted) {
    const std::vector<std::string> hosts = hosts_of(certificate);
    if (hosts.empty())
        return "the broker's certificate names no host (it has no subjectAltName, and a common name does not count), so not " +
               wanted + " either";
    std::string list;
    for (std::size_t i = 0; i < std::min(hosts.size(), most_names); ++i) list += (i == 0 ? "" : ", ") + hosts[i];
    if (hosts.size() > most_names) list += " and others";
    return "the broker's certificate is for " + list + ", not for " + wanted;
}

// A certificate of the broker, or of one of the authorities above it.
std::string whose(const X509& certificate, int depth) {
    const std::string name = " (" + text_of(X509_get_subject_name(&certificate)) + ")";
    return depth == 0 ? "the broker's certificate" + name : "the certificate of an authority above the broker's" + name;
}

std::string unknown_authority(const X509& certificate, const std::string& authorities) {
    return "the broker's certificate comes from an unknown authority: " + text_of(X509_get_issuer_name(&certificate)) +
           " is not in " + authorities;
}

std::string asked_for_certificate(const std::string& otherwise, ShownCertificate shown) {
    return shown == ShownCertificate::none ? "the broker asks for a client certificate: set tls.cert_file and tls.key_file"
                                           : otherwise;
}

}  // namespace

std::string why_not_trusted(X509_STORE_CTX& verification, const Expectation& expected) {
    const int error = X509_STORE_CTX_get_error(&verification);
    const X509* const certificate = X509_STORE_CTX_get_current_cert(&verification);
    const std::string otherwise = X509_verify_cert_error_string(error);
    if (certificate == nullptr) return "the broker's certificate is not accepted: " + otherwise;
    const std::string subject = whose(*certificate, X509_STORE_CTX_get_error_depth(&verification));
    switch (error) {
        case X509_V_ERR_CERT_HAS_EXPIRED:
            return subject + " has expired: it was valid until " + text_of(*X509_get0_notAfter(certificate));
        case X509_V_ERR_CERT_NOT_YET_VALID:
            return subject + " is not valid yet: it will be from " + text_of(*X509_get0_notBefore(certificate)) + " on";
        case X509_V_ERR_HOSTNAME_MISMATCH:
        case X509_V_ERR_IP_ADDRESS_MISMATCH: return wrong_host(*certificate, expected.name);
        case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
            return subject + " is self-signed, and it is not in " + expected.authorities;
        case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
        case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
        case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
        case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE: return unknown_authority(*certificate, expected.authorities);
        case X509_V_ERR_CERT_SIGNATURE_FAILURE:
            return subject + " bears a signature that is not of " + text_of(X509_get_issuer_name(certificate)) + " in " +
                   expected.authorities;
        case X509_V_ERR_INVALID_PURPOSE: return subject + " is not made for this: its key usage is another one";
        default: return subject + " is not accepted: " + otherwise;
    }
}

std::string why_alerted(int alert, ShownCertificate shown) {
    const std::string otherwise = std::string{"the broker ended TLS: "} + SSL_alert_desc_string_long(alert);
    const std::string ours = "the broker refuses our certificate (tls.cert_file): ";
    switch (alert) {
        case SSL_AD_CERTIFICATE_REQUIRED:
        case SSL_AD_NO_CERTIFICATE: return asked_for_certificate("the broker asks for another client certificate", shown);
        case SSL_AD_HANDSHAKE_FAILURE:
            return asked_for_certificate(otherwise + " (nothing in common: ciphers, signatures, or the kind of certificate)",
                                         shown);
        default: break;
    }
    if (alert == SSL_AD_PROTOCOL_VERSION) return otherwise + " (it speaks neither TLS 1.2 nor 1.3)";
    if (shown != ShownCertificate::ours) return otherwise;
    switch (alert) {
        case SSL_AD_UNKNOWN_CA: return ours + "it does not know the authority that signed it";
        case SSL_AD_CERTIFICATE_EXPIRED: return ours + "it has expired, or is not valid yet";
        case SSL_AD_CERTIFICATE_REVOKED: return ours + "it was revoked";
        case SSL_AD_BAD_CERTIFICATE:
        case SSL_AD_UNSUPPORTED_CERTIFICATE:
        case SSL_AD_CERTIFICATE_UNKNOWN:
        case SSL_AD_ACCESS_DENIED:
        case SSL_AD_DECRYPT_ERROR: return ours + SSL_alert_desc_string_long(alert);
        default: return otherwise;
    }
}

}  // namespace retryd::tls
