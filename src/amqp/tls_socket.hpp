#pragma once
// A TLS connection to the broker, made by rabbitmq-c and judged by us: its own look at the certificate's names knows no
// addresses and believes a common name, and it says of a failure no more than that there was one.
//
// The library opens the socket itself, and OpenSSL's callbacks are where we come in: at the first byte of the handshake the
// socket becomes ours to end, the certificate is accepted or not when it comes, alerts are written down. Verifying happens
// inside of the handshake, so that nothing of ours is sent to a stranger.
// Belongs to the link's thread. The context that rabbitmq-c keeps points here, so this outlives its connection.

#include "amqp/descriptor.hpp"
#include "amqp/exit.hpp"
#include "amqp/library.hpp"
#include "model/policy.hpp"
#include "model/problem.hpp"
#include "tls/reasons.hpp"

#include <openssl/ssl.h>

#include <memory>
#include <string>
#include <string_view>

namespace retryd::amqp {

class TlsSocket {
public:
    // `exit` holds the socket from the handshake on; `stuck_after` is TCP_USER_TIMEOUT, as for dial().
    TlsSocket(const model::BrokerAddress& address, const model::TlsPolicy& policy, model::Milliseconds stuck_after, Exit& exit);
    TlsSocket(const TlsSocket&) = delete;
    TlsSocket& operator=(const TlsSocket&) = delete;

    // Blocks for at most `timeout`, and for the resolver; until the handshake begins nothing ends it earlier.
    // Fails with `refused` where a certificate was refused, by us or by the broker.
    [[nodiscard]] model::Result<void> open(amqp_connection_state_t state, model::Milliseconds timeout);

    // Beside the library, and like it: between whole frames, blocking (send.hpp).
    [[nodiscard]] model::Result<void> send(std::string_view bytes);

    // What the library's `status` means where it came from TLS; right after the failed call.
    [[nodiscard]] model::Problem problem(int status);

private:
    struct Free {
        void operator()(SSL* session) const { SSL_free(session); }
    };
    [[nodiscard]] model::Result<void> prepare(SSL_CTX& context);
    [[nodiscard]] model::Problem open_problem(int status, model::Milliseconds timeout);
    void hear_last_words();
    void began(SSL& session);
    void noticed(const SSL& session, int where, int value);
    void distrust(X509_STORE_CTX& verification);
    static TlsSocket& of(const SSL& session);

    const model::BrokerAddress& address_;
    const model::TlsPolicy& policy_;
    model::Milliseconds stuck_after_;
    Exit& exit_;
    tls::Expectation expected_;
    tls::ShownCertificate shown_ = tls::ShownCertificate::not_asked;
    bool begun_ = false;  // connected, and the handshake is on its way
    // The session and its socket, held beside the library, which lets them go as soon as anything fails.
    std::unique_ptr<SSL, Free> session_;
    Descriptor socket_;
    std::string distrusted_;  // why we refused the broker's certificate
    std::string alert_;       // what the broker's alert said
    bool refused_ = false;    // … and it was a no, not its own trouble
};

}  // namespace retryd::amqp
