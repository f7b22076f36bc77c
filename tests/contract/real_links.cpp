// What only sockets can show: refusals, peers that are not there or say nothing, heartbeats.

#include "amqp/descriptor.hpp"
#include "amqp/links.hpp"
#include "contract/real_address.hpp"

#include <catch2/catch.hpp>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <chrono>
#include <memory>
#include <utility>
#include <variant>
#include <vector>

using namespace retryd;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

namespace {

// Links with a policy of the case's own.
struct Bench : ports::Inbox {
    explicit Bench(model::BrokerPolicy with)
        : policy(std::move(with)),
          links(std::make_unique<amqp::Links>(policy, main, *this, amqp::Introduction{"bench", "0"})) {}

    void broker_events(std::vector<ports::BrokerEvent>& batch) override {
        for (auto& event : batch) events.push_back(std::move(event));
    }
    void replied(model::DeliveryKey, model::Reply&&) override {}
    void probed(model::QueueId, const std::string&) override {}

    template <class Event>
    const Event* find() const {
        for (const auto& event : events) {
            if (const auto* found = std::get_if<Event>(&event)) return found;
        }
        return nullptr;
    }
    void run_for(Clock::duration span) { main.run_for(span); }
    template <class Event>
    Event await() {
        const auto end = Clock::now() + 30s;
        while (find<Event>() == nullptr && Clock::now() < end) main.run_one_for(1s);
        REQUIRE(find<Event>() != nullptr);
        return *find<Event>();
    }

    model::BrokerPolicy policy;
    boost::asio::io_context main{1};
    boost::asio::executor_work_guard<boost::asio::io_context::executor_type> busy = boost::asio::make_work_guard(main);
    std::vector<ports::BrokerEvent> events;
    std::unique_ptr<amqp::Links> links;
};

model::BrokerPolicy policy_for(model::BrokerAddress address) {
    model::BrokerPolicy policy;
    policy.addresses = {std::move(address)};
    return policy;
}

// Accepts connections (the kernel does) and never says a word; or, once closed, a port where nobody listens.
struct SilentPeer {
    SilentPeer() {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof address;
        auto* generic = static_cast<sockaddr*>(static_cast<void*>(&address));
        REQUIRE(::bind(socket.get(), generic, size) == 0);
        REQUIRE(::listen(socket.get(), 8) == 0);
        REQUIRE(::getsockname(socket.get(), generic, &size) == 0);
        port = ntohs(address.sin_port);
    }
    amqp::Descriptor socket{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    std::uint16_t port = 0;
};

}  // namespace

TEST_CASE("a wrong password and a missing vhost are refusals, and no text shows the password") {
    model::BrokerAddress wrong_password = contract::address_from_environment();
    wrong_password.password = "s3cret-and-wrong";
    model::BrokerAddress wrong_vhost = contract::address_from_environment();
    wrong_vhost.vhost = "no-such-vhost";
    for (const auto& address : {wrong_password, wrong_vhost}) {
        Bench bench{policy_for(address)};
        bench.links->connect(ports::Link::consume, 0);
        const auto down = bench.await<ports::LinkDown>();
        CHECK(down.refused);
        CHECK_FALSE(down.why.empty());
        CHECK(down.why.find("s3cret") == std::string::npos);
        CHECK(bench.find<ports::LinkUp>() == nullptr);
    }
}

TEST_CASE("a port where nobody listens and a host that does not exist are no refusals") {
    model::BrokerAddress closed;
    closed.host = "127.0.0.1";
    {
        SilentPeer gone;
        closed.port = gone.port;
    }
    model::BrokerAddress unknown;
    unknown.host = "no-such-host.invalid";
    for (const auto& address : {closed, unknown}) {
        Bench bench{policy_for(address)};
        bench.links->connect(ports::Link::publish, 0);
        const auto down = bench.await<ports::LinkDown>();
        CHECK(down.link == ports::Link::publish);
        CHECK_FALSE(down.refused);
        CHECK_FALSE(down.why.empty());
    }
}

TEST_CASE("a peer that says nothing is given up after the connect timeout, and left at once when told") {
    const SilentPeer peer;
    model::BrokerAddress address;
    address.host = "127.0.0.1";
    address.port = peer.port;
    model::BrokerPolicy policy = policy_for(address);
    SECTION("the timeout") {
        policy.connect_timeout = 200ms;
        Bench bench{policy};
        bench.links->connect(ports::Link::consume, 0);
        CHECK_FALSE(bench.await<ports::LinkDown>().refused);
    }
    policy.connect_timeout = 60s;
    const auto begin = Clock::now();
    SECTION("disconnect") {
        Bench bench{policy};
        bench.links->connect(ports::Link::consume, 0);
        bench.run_for(50ms);
        bench.links->disconnect(ports::Link::consume);
        CHECK_FALSE(bench.await<ports::LinkDown>().refused);
    }
    SECTION("destruction") {
        Bench bench{policy};
        bench.links->connect(ports::Link::consume, 0);
        bench.run_for(50ms);
        bench.links.reset();
    }
    CHECK(Clock::now() - begin < 20s);
}

TEST_CASE("a link that nobody talks to lives on by its heartbeats, reading or not") {
    model::BrokerPolicy policy = policy_for(contract::address_from_environment());
    policy.heartbeat = 1s;
    Bench bench{policy};
    bench.links->connect(ports::Link::consume, 0);
    bench.links->connect(ports::Link::publish, 0);
    (void)bench.await<ports::LinkUp>();
    std::vector<ports::BrokerCommand> stop;
    stop.emplace_back(ports::SetReading{false});
    bench.links->send(ports::Link::consume, stop);
    bench.run_for(4s);  // the broker gives up after two or three silent intervals
    CHECK(bench.find<ports::LinkDown>() == nullptr);
}
