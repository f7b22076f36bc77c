#pragma once
// One connection to the broker through rabbitmq-c. Belongs to one thread; sends block it, reads never do.
//
// The first failure stays: from then on every call does nothing, and trouble() says what happened. So callers send without
// looking, and look once at the end of their turn. A connection in trouble is destroyed and nothing else.

#include "amqp/descriptor.hpp"
#include "amqp/dial.hpp"
#include "amqp/incoming.hpp"
#include "amqp/library.hpp"
#include "amqp/settle.hpp"
#include "amqp/tls_socket.hpp"
#include "model/policy.hpp"
#include "model/problem.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace retryd::amqp {

// How we introduce ourselves to the broker; shown by its tools.
struct Introduction {
    std::string connection_name;
    std::string version;
};

class Connection {
public:
    // Connects and logs in; blocks for at most twice the connect timeout, and for the resolver. `address` and `policy` outlive
    // it. Fails with `refused` where the broker answered and said no, or we to its certificate; else with `unavailable`.
    // No text holds the password.
    [[nodiscard]] static model::Result<std::unique_ptr<Connection>> open(const model::BrokerAddress& address,
                                                                         const model::BrokerPolicy& policy,
                                                                         const Introduction& introduction, Exit& exit);

    [[nodiscard]] const std::string& broker_version() const { return broker_version_; }  // "3.10.8"; empty: not said
    [[nodiscard]] std::uint32_t frame_max() const { return frame_max_; }                 // bytes, negotiated
    [[nodiscard]] ChannelNumber channel_max() const;
    [[nodiscard]] std::chrono::seconds heartbeat() const;
    // From now on frames of twice the negotiated size are read: the broker sends a message's headers in one frame, and what
    // it adds to them itself (x-delivery-count, x-death) may make it larger. Right after open(), and only where nothing but
    // methods is sent: the library would make its own frames larger too.
    void read_larger_frames();
    // To wait on: the library may close its own descriptor at any time.
    [[nodiscard]] Descriptor duplicate() const;

    // The next whole frame that has arrived; false: none, or trouble. Also sends a heartbeat where one is due.
    // Its contents live until they are released.
    [[nodiscard]] bool read(amqp_frame_t& frame);
    // More has come from the socket than read() has given, or may have: then the socket need not say so.
    [[nodiscard]] bool has_unread() const;
    void release(ChannelNumber channel);  // frees what was read on it; only what was copied out survives
    void release_all();

    void send(ChannelNumber channel, amqp_method_number_t method, void* arguments);
    // What is sent for every message is gathered: until flush(), until it is much, or until something else is sent.
    void ack(ChannelNumber channel, const Ack& ack);
    // Mandatory, through the default exchange. `queue` is a short string; the properties fit into a frame.
    void publish(ChannelNumber channel, std::string_view queue, std::string_view properties, std::string_view body);
    void flush();

    [[nodiscard]] bool failed() const { return !trouble_.empty(); }
    [[nodiscard]] const std::string& trouble() const { return trouble_; }
    void fail(std::string why);

private:
    struct Destroy {
        void operator()(amqp_connection_state_t state) const { amqp_destroy_connection(state); }
    };
    Connection();
    void check(int status);
    void flush_if_much();
    [[nodiscard]] model::Result<void> connect(const model::BrokerAddress& address, const model::BrokerPolicy& policy,
                                              Exit& exit);
    [[nodiscard]] amqp_rpc_reply_t introduce(const model::BrokerAddress& address, const model::BrokerPolicy& policy,
                                             const amqp_table_t& properties);
    [[nodiscard]] model::Problem login_problem(const amqp_rpc_reply_t& reply);
    [[nodiscard]] model::Result<void> log_in(const model::BrokerAddress& address, const model::BrokerPolicy& policy,
                                             const Introduction& introduction);

    std::unique_ptr<TlsSocket> tls_;  // nothing: plain TCP
    std::unique_ptr<amqp_connection_state_t_, Destroy> state_;
    std::string broker_version_;
    std::uint32_t frame_max_ = 0;
    std::string gathered_;  // frames to be sent
    std::string trouble_;
};

}  // namespace retryd::amqp
