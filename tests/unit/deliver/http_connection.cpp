// One connection, with the loop run one handler at a time: what a consumer can do between any two of them.
#include "deliver/http_connection.hpp"
#include "unit/deliver/scripted_server.hpp"

#include <catch2/catch.hpp>

#include <boost/asio/post.hpp>

#include <functional>
#include <optional>

using namespace retryd;
using scripted::Folder;
namespace asio = boost::asio;

namespace {

struct Owner : deliver::HttpConnection::Owner {
    void connected(deliver::HttpConnection&) override {}
    void replied(deliver::HttpConnection&, model::DeliveryKey, model::Reply&& reply) override {
        statuses.push_back(reply.status);
    }
    void ended(deliver::HttpConnection&, const std::string& why) override { troubles.push_back(why); }

    std::vector<int> statuses;
    std::vector<std::string> troubles;
};

// Answers a request as soon as the kernel has it.
class PromptConsumer {
public:
    explicit PromptConsumer(const std::string& path) : acceptor_(io_, asio::local::stream_protocol::endpoint(path)) {
        acceptor_.non_blocking(true);
    }
    void accept() {
        boost::system::error_code nobody;
        asio::local::stream_protocol::socket socket(io_);
        acceptor_.accept(socket, nobody);
        if (!nobody) sockets_.push_back(std::move(socket));
    }
    void say(std::size_t connection, std::string_view text) {
        boost::system::error_code gone;
        sockets_.at(connection).write_some(asio::buffer(text), gone);
    }
    void answer(std::size_t connection) {
        if (connection >= sockets_.size() || sockets_[connection].available() == 0) return;
        std::array<char, 1024> request{};
        sockets_[connection].read_some(asio::buffer(request));
        say(connection, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    }

private:
    asio::io_context io_;
    asio::local::stream_protocol::acceptor acceptor_;
    std::vector<asio::local::stream_protocol::socket> sockets_;
};

// Does it after so many turns of the loop's queue.
void post_after(asio::io_context& io, int turns, std::function<void()> act) {
    asio::post(io, [&io, turns, act = std::move(act)] { turns > 0 ? post_after(io, turns - 1, act) : act(); });
}

}  // namespace

// The loop keeps what the kernel said of a descriptor until its turn comes. Where another connection has the descriptor by
// then, its answer is read before the loop has told that its request was sent.
TEST_CASE("an answer counts that is read before the loop tells that the request is sent") {
    const int turns = GENERATE(range(0, 6));
    CAPTURE(turns);
    const Folder folder;
    PromptConsumer consumer(folder.socket());
    model::DeliverPolicy policy;
    policy.http.unix_path = folder.socket();
    asio::io_context io{1};
    Owner owner;
    const auto connection = [&] {
        auto made = std::make_shared<deliver::HttpConnection>(io, policy, owner);
        made->send({{1}, "POST / HTTP/1.1\r\n\r\n", std::make_shared<const model::Message>()});
        made->start();
        return made;
    };
    const auto first = connection();
    io.poll();
    consumer.accept();

    post_after(io, turns, [&] { first->close(); });
    const auto second = connection();
    for (const char next : std::string_view("HTTP/1.1 200")) {
        consumer.say(0, {&next, 1});  // each is news of the first one's descriptor
        io.poll_one();
        consumer.accept();
        consumer.answer(1);
    }
    io.poll();
    CHECK(owner.troubles.empty());
    CHECK(owner.statuses == std::vector<int>{200});
}
