#pragma once
// The broker behind ports::Broker: a link for consuming and one for publishing, each a connection on a thread of its own,
// since a broker in alarm stops reading from whoever publishes, and the acks must still flow.
//
// Where to read on: link (two threads and what passes between them) → pump (the loop) → consume_session, publish_session
// (what is said on a connection) → assembler, settle, confirms (the pure parts). Nothing outside this room sees amqp.h.
//
//   Links links{policy.broker, main, inbox, {"retryd@host", "0.1.0"}};
//   links.connect(ports::Link::consume, 0);   // answers with LinkUp or LinkDown, through the inbox
//
// All members are for the main thread, which runs `main`; `main` and `inbox` outlive this. Destruction ends both
// connections at once and joins the threads; at worst it waits for the resolver, and over TLS for a host that does not answer
// to be given up (connect_timeout).

#include "amqp/link.hpp"
#include "model/policy.hpp"
#include "ports/broker.hpp"
#include "ports/inbox.hpp"

#include <boost/asio/io_context.hpp>

namespace retryd::amqp {

class Links : public ports::Broker {
public:
    Links(const model::BrokerPolicy& policy, boost::asio::io_context& main, ports::Inbox& inbox,
          const Introduction& introduction)
        : consume_(ports::Link::consume, policy, introduction, main, inbox),
          publish_(ports::Link::publish, policy, introduction, main, inbox) {}

    void connect(ports::Link link, std::size_t address) override { at(link).connect(address); }
    void disconnect(ports::Link link) override { at(link).disconnect(); }
    void close(ports::Link link) override { at(link).close(); }
    void send(ports::Link link, std::vector<ports::BrokerCommand>& commands) override { at(link).send(commands); }

private:
    Link& at(ports::Link link) { return link == ports::Link::consume ? consume_ : publish_; }

    Link consume_;
    Link publish_;
};

}  // namespace retryd::amqp
