#pragma once
// The HTTP consumer with one queue, the loop it runs on, and all that it reported.

#include "deliver/http_consumer.hpp"
#include "ports/inbox.hpp"
#include "unit/deliver/scripted_server.hpp"

#include <boost/asio/io_context.hpp>

#include <catch2/catch.hpp>

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace scripted {

using namespace retryd;
using namespace std::chrono_literals;

// A consumer that is content with everything.
inline const std::string ok = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";

inline asio::awaitable<void> answer_all(Peer& peer) {
    for (;;) {
        const bool asked = co_await peer.request();
        if (!asked) co_return;
        co_await peer.say(ok);
    }
}

struct House : ports::Inbox {
    Folder folder;
    asio::io_context io{1};
    model::Policy policy;
    std::optional<deliver::HttpConsumer> consumer;
    std::map<model::DeliveryKey, std::vector<model::Reply>> replies;
    std::vector<std::string> probes;
    std::uint64_t last_key = 0;
    int send_on_reply = 0;     // so many more, each from inside the report of the one before
    bool calling_out = false;  // the consumer may report nothing now

    void consume_with(const model::HttpTarget& target) {
        policy.queues.resize(1);
        policy.queues[0].name = {"orders"};
        policy.queues[0].deliver.http = target;
        policy.queues[0].deliver.max_reply = {1000};
        consumer.emplace(io, policy, *this);
    }

    void broker_events(std::vector<ports::BrokerEvent>&) override {}
    void replied(model::DeliveryKey key, model::Reply&& reply) override {
        CHECK_FALSE(calling_out);
        replies[key].push_back(std::move(reply));
        if (send_on_reply-- > 0) send();
    }
    void probed(model::QueueId, const std::string& trouble) override {
        CHECK_FALSE(calling_out);
        probes.push_back(trouble);
    }
    void not_ready(model::QueueId, const std::string& why) override {
        CHECK_FALSE(calling_out);
        probes.push_back("not ready: " + why);
    }

    model::DeliveryKey send(std::string body = "hello", std::string shown = std::string(2, '\0')) {
        ports::Delivery delivery;
        delivery.key = {++last_key};
        delivery.message = std::make_shared<const model::Message>(model::Message{"", std::move(body)});
        delivery.shown = std::move(shown);
        call([&] { consumer->deliver(std::move(delivery)); });
        return {last_key};
    }
    void abandon(model::DeliveryKey key) {
        call([&] { consumer->abandon(key); });
    }
    void probe() {
        call([&] { consumer->probe({0}); });
    }

    // Runs the loop until that is so; fails where it is not within 10 s.
    template <class Condition>
    void run_until(Condition condition) {
        const auto give_up = std::chrono::steady_clock::now() + 10s;
        while (!condition() && std::chrono::steady_clock::now() < give_up) {
            io.restart();  // it stops where it has nothing to do
            if (io.run_one_until(give_up) == 0) break;
        }
        REQUIRE(condition());
    }
    model::Reply reply_to(model::DeliveryKey key) {
        run_until([&] { return replies.contains(key); });
        REQUIRE(replies[key].size() == 1);
        return replies[key][0];
    }
    std::string probe_result() {
        const auto before = probes.size();
        probe();
        run_until([&] { return probes.size() > before; });
        return probes.back();
    }
    // Does all that is ready, and what follows from it.
    void settle() {
        io.restart();
        while (io.poll() > 0) io.restart();
    }

private:
    template <class Call>
    void call(Call into_the_consumer) {
        calling_out = true;
        into_the_consumer();
        calling_out = false;
    }
};

}  // namespace scripted
