#include "amqp/tls_socket.hpp"

#include "amqp/dial.hpp"
#include "amqp/send.hpp"
#include "tls/context.hpp"

#include <fcntl.h>
#include <openssl/err.h>
#include <poll.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace retryd::amqp {

using model::Problem;
using model::ProblemCode;
using model::Result;

namespace {

// The name to expect and to ask for: without the dot that may end a name of the DNS.
std::string name_of(const model::BrokerAddress& address, const model::TlsPolicy& policy) {
    std::string name = policy.server_name.empty() ? address.host : policy.server_name;
    if (name.ends_with('.')) name.pop_back();
    return name;
}

std::string library_word(int status) {
    return amqp_error_string2(status);
}

// OpenSSL's word for the last call that failed on this thread.
std::string openssl_word(const std::string& otherwise) {
    const unsigned long error = ERR_peek_error();
    const char* const reason = error == 0 ? nullptr : ERR_reason_error_string(error);
    if (reason == nullptr) return otherwise;
    switch (ERR_GET_REASON(error)) {
        case SSL_R_UNEXPECTED_EOF_WHILE_READING: return library_word(AMQP_STATUS_CONNECTION_CLOSED);
        case SSL_R_WRONG_VERSION_NUMBER:
        case SSL_R_UNEXPECTED_MESSAGE:
        case SSL_R_UNEXPECTED_RECORD:
        case SSL_R_PACKET_LENGTH_TOO_LONG:
        case SSL_R_HTTP_REQUEST: return std::string{"what answers there does not speak TLS ("} + reason + ")";
        default: return std::string{"TLS: "} + reason;
    }
}

}  // namespace

TlsSocket::TlsSocket(const model::BrokerAddress& address, const model::TlsPolicy& policy, model::Milliseconds stuck_after,
                     Exit& exit)
    : address_(address),
      policy_(policy),
      stuck_after_(stuck_after),
      exit_(exit),
      expected_{name_of(address, policy),
                policy.ca_file.empty() ? "the system's store (tls.ca_file is not set)" : "tls.ca_file"} {}

Result<void> TlsSocket::open(amqp_connection_state_t state, model::Milliseconds timeout) {
    amqp_socket_t* const socket = amqp_ssl_socket_new(state);
    if (socket == nullptr) return Problem{ProblemCode::system, {}, "TLS can't be set up", {}};
    amqp_ssl_socket_set_verify_peer(socket, policy_.verify ? 1 : 0);
    amqp_ssl_socket_set_verify_hostname(socket, 0);  // distrust() is told of it within the handshake
    if (auto prepared = prepare(*static_cast<SSL_CTX*>(amqp_ssl_socket_get_context(socket))); !prepared) return prepared;
    const timeval bound = to_timeval(timeout);
    const int status = amqp_socket_open_noblock(socket, address_.host.c_str(), address_.port, &bound);
    if (status == AMQP_STATUS_OK) return {};
    exit_.take_back();
    return open_problem(status, timeout);
}

Result<void> TlsSocket::prepare(SSL_CTX& context) {
    SSL_CTX_set_app_data(&context, this);
    SSL_CTX_set_min_proto_version(&context, TLS1_2_VERSION);
    SSL_CTX_set_info_callback(&context,
                              [](const SSL* session, int where, int value) { of(*session).noticed(*session, where, value); });
    if (policy_.cert_file.empty()) {
        SSL_CTX_set_client_cert_cb(&context, [](SSL* session, X509**, EVP_PKEY**) {  // we are asked for one
            of(*session).shown_ = tls::ShownCertificate::none;
            return 0;
        });
    } else {
        if (auto identified = tls::identify(context, policy_.cert_file, policy_.key_file); !identified) return identified;
        shown_ = tls::ShownCertificate::ours;
    }
    if (!policy_.verify) return {};
    tls::expect(context, expected_.name);
    SSL_CTX_set_verify(&context, SSL_VERIFY_PEER, [](int good, X509_STORE_CTX* verification) {
        const int index = SSL_get_ex_data_X509_STORE_CTX_idx();
        const auto* session = static_cast<const SSL*>(X509_STORE_CTX_get_ex_data(verification, index));
        if (good == 0) of(*session).distrust(*verification);
        return good;
    });
    return tls::trust(context, policy_.ca_file);
}

TlsSocket& TlsSocket::of(const SSL& session) {
    return *static_cast<TlsSocket*>(SSL_CTX_get_app_data(SSL_get_SSL_CTX(&session)));
}

void TlsSocket::distrust(X509_STORE_CTX& verification) {
    distrusted_ = tls::why_not_trusted(verification, expected_);
}

void TlsSocket::noticed(const SSL& session, int where, int value) {
    constexpr int fatal = 2;
    if ((where & SSL_CB_HANDSHAKE_START) != 0 && !std::exchange(begun_, true)) began(const_cast<SSL&>(session));
    if (where != SSL_CB_READ_ALERT || value >> 8 != fatal) return;
    const int alert = value & 0xFF;
    alert_ = tls::why_alerted(alert, shown_);
    refused_ = alert != SSL_AD_INTERNAL_ERROR;
}

// Connected; nothing is sent yet.
void TlsSocket::began(SSL& session) {
    const int socket = SSL_get_fd(&session);
    limit_unacknowledged(socket, stuck_after_);
    exit_.lend(socket);
    SSL_up_ref(&session);
    session_.reset(&session);
    socket_ = Descriptor{::fcntl(socket, F_DUPFD_CLOEXEC, 0)};
    // The library names the host that it dialled, even where that is an address, which SNI may not carry.
    char* const name = tls::is_address(expected_.name) ? nullptr : expected_.name.data();
    SSL_ctrl(&session, SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name, name);
}

// In TLS 1.3 our part of the handshake is over before the broker has seen our certificate. Its alert then comes while the
// library writes, finds the connection closed, and does not read any more.
void TlsSocket::hear_last_words() {
    if (!session_) return;
    SSL_set0_wbio(session_.get(), BIO_new(BIO_s_null()));  // the library may have closed its number, and another file have it
    SSL_set_rfd(session_.get(), socket_.get());
    char unused = 0;
    SSL_read(session_.get(), &unused, sizeof unused);  // tells noticed()
    session_.reset();
    ERR_clear_error();
}

Result<void> TlsSocket::send(std::string_view bytes) {
    while (!bytes.empty()) {
        ERR_clear_error();
        std::size_t sent = 0;
        const int done = SSL_write_ex(session_.get(), bytes.data(), bytes.size(), &sent);
        bytes.remove_prefix(sent);
        if (done == 1) continue;
        switch (SSL_get_error(session_.get(), done)) {
            case SSL_ERROR_WANT_WRITE: wait_until(socket_.get(), POLLOUT); break;
            case SSL_ERROR_WANT_READ: wait_until(socket_.get(), POLLIN); break;
            default: return problem(AMQP_STATUS_SSL_ERROR);
        }
    }
    return {};
}

Problem TlsSocket::problem(int status) {
    const bool from_tls = status == AMQP_STATUS_SSL_ERROR || status == AMQP_STATUS_SSL_CONNECTION_FAILED;
    const std::string word = from_tls ? openssl_word(library_word(AMQP_STATUS_SOCKET_ERROR)) : library_word(status);
    if (alert_.empty()) hear_last_words();
    const auto unless_refused = refused_ ? ProblemCode::refused : ProblemCode::unavailable;
    if (!distrusted_.empty()) return {ProblemCode::refused, {}, distrusted_, {}};
    if (!alert_.empty()) return {unless_refused, {}, alert_, {}};
    return {ProblemCode::unavailable, {}, word, {}};
}

Problem TlsSocket::open_problem(int status, model::Milliseconds timeout) {
    if (status == AMQP_STATUS_TIMEOUT)
        return {ProblemCode::unavailable, {}, begun_ ? "no answer in the TLS handshake" : std::strerror(ETIMEDOUT), {}};
    if (begun_) return problem(status);
    // The library does not say why it could not connect; a connection of our own tells.
    const auto again = dial(address_.host, address_.port, timeout, stuck_after_, exit_);
    exit_.take_back();
    return again ? problem(status) : again.error();
}

}  // namespace retryd::amqp
