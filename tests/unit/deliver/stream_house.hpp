#pragma once
// The stream consumer with one queue, the loop it runs on, all that it reported, and callers that speak frames by hand.

#include "deliver/stream_consumer.hpp"
#include "deliver/stream_frame.hpp"
#include "ports/inbox.hpp"
#include "unit/temp_folder.hpp"

#include <boost/asio/io_context.hpp>

#include <catch2/catch.hpp>

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace streamed {

using namespace retryd;
using namespace std::chrono_literals;

struct House : ports::Inbox, ports::Journal {
    TempFolder folder;
    boost::asio::io_context io{1};
    model::Policy policy;
    std::optional<deliver::StreamConsumer> consumer;
    std::map<model::DeliveryKey, std::vector<model::Reply>> replies;
    std::vector<std::string> reports;  // everything but replies, in order
    std::vector<std::string> log;
    std::uint64_t last_key = 0;
    std::weak_ptr<const model::Message> last_message;
    bool calling_out = false;  // the consumer may report nothing now

    [[nodiscard]] std::string path() const { return folder.path + "/orders.sock"; }

    void open() {
        policy.queues.resize(1);
        policy.queues[0].name = {"orders"};
        if (!policy.queues[0].deliver.stream) policy.queues[0].deliver.stream.emplace();
        policy.queues[0].deliver.stream->unix_path = path();
        consumer.emplace(io, policy, *this, *this);
        REQUIRE(consumer->listen({0}).has_value());
    }

    void broker_events(std::vector<ports::BrokerEvent>&) override {}
    void replied(model::DeliveryKey key, model::Reply&& reply) override {
        CHECK_FALSE(calling_out);
        replies[key].push_back(std::move(reply));
    }
    void probed(model::QueueId, const std::string& trouble) override { report("probed " + trouble); }
    void credit_changed(model::QueueId) override { report("credit"); }
    void consumer_gone(model::QueueId, const std::string& why) override { report("gone " + why); }
    void extended(model::DeliveryKey key, model::Milliseconds more) override {
        report("extended " + std::to_string(key.value) + " " + std::to_string(more.count()));
    }

    void record(const ports::LogEvent& event) override {
        std::string line(event.event);
        for (const auto& [name, value] : event.fields) line.append(" ").append(name).append("=").append(value);
        log.push_back(line);
    }
    [[nodiscard]] bool keeps(model::LogLevel) const override { return true; }

    model::DeliveryKey send(std::string body = "hello") {
        ports::Delivery delivery;
        delivery.key = {++last_key};
        delivery.message = std::make_shared<const model::Message>(model::Message{"", std::move(body)});
        last_message = delivery.message;
        delivery.shown = std::string(2, '\0');
        calling_out = true;
        consumer->deliver(std::move(delivery));
        calling_out = false;
        return {last_key};
    }

    // Runs the loop until that is so; fails where it is not within 10 s.
    template <class Condition>
    void run_until(Condition condition) {
        const auto give_up = std::chrono::steady_clock::now() + 10s;
        while (!condition() && std::chrono::steady_clock::now() < give_up) {
            io.restart();
            io.run_one_for(1ms);
        }
        REQUIRE(condition());
    }
    // Does all that is ready, and what follows from it.
    void settle() {
        for (int i = 0; i < 20; ++i) {
            io.restart();
            io.poll();
        }
    }
    [[nodiscard]] std::size_t count(const std::string& report) const {
        return static_cast<std::size_t>(std::count(reports.begin(), reports.end(), report));
    }

private:
    void report(std::string what) {
        CHECK_FALSE(calling_out);
        reports.push_back(std::move(what));
    }
};

// A consumer process, as far as the socket sees.
class Caller {
public:
    explicit Caller(House& house) : house_(house), socket_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        sockaddr_un name{};
        name.sun_family = AF_UNIX;
        std::memcpy(name.sun_path, house.path().c_str(), house.path().size());
        REQUIRE(::connect(socket_, reinterpret_cast<const sockaddr*>(&name), sizeof name) == 0);
    }
    Caller(House& house, std::uint32_t credit) : Caller(house) {
        say(R"({"op":"hello","protocol":1,"credit":)" + std::to_string(credit) + "}");
        REQUIRE(next().starts_with(R"({"op":"welcome")"));
    }
    ~Caller() { hang_up(); }
    Caller(const Caller&) = delete;
    Caller& operator=(const Caller&) = delete;

    void hang_up() {
        if (socket_ >= 0) ::close(socket_);
        socket_ = -1;
    }
    void send_raw(std::string_view bytes) {
        REQUIRE(::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(bytes.size()));
    }
    void say(std::string_view header) {
        auto frame = deliver::begin_frame();
        frame += header;
        deliver::end_frame(frame, 0);
        send_raw(frame);
    }
    void reply(std::uint64_t id, const std::string& more = R"("outcome":"success","credit":1)") {
        say(R"({"op":"reply","id":)" + std::to_string(id) + "," + more + "}");
    }
    // The next frame's header; its body is in `body`. Empty at the end of the session.
    std::string next() {
        bool taken = false;
        house_.run_until([&] { return taken || (taken = take()) || ended_; });
        return std::exchange(header_, {});
    }
    [[nodiscard]] bool has_news() {
        house_.settle();
        read();
        return !input_.empty() || ended_;
    }
    std::string body;

private:
    void read() {
        char bytes[65536];
        for (;;) {
            const auto size = ::recv(socket_, bytes, sizeof bytes, MSG_DONTWAIT);
            if (size > 0) input_.append(bytes, static_cast<std::size_t>(size));
            if (size == 0 || (size < 0 && errno != EAGAIN && errno != EINTR)) ended_ = true;
            if (size <= 0) return;
        }
    }
    [[nodiscard]] std::size_t length(std::size_t at) const {
        std::size_t value = 0;
        for (std::size_t i = 0; i < 4; ++i) value = value << 8 | static_cast<unsigned char>(input_[at + i]);
        return value;
    }
    bool take() {
        read();
        if (input_.size() < deliver::frame_prefix) return false;
        const auto header = length(0);
        const auto whole = deliver::frame_prefix + header + length(4);
        if (input_.size() < whole) return false;
        header_ = input_.substr(deliver::frame_prefix, header);
        body = input_.substr(deliver::frame_prefix + header, length(4));
        input_.erase(0, whole);
        return true;
    }

    House& house_;
    int socket_;
    std::string input_, header_;
    bool ended_ = false;
};

}  // namespace streamed
