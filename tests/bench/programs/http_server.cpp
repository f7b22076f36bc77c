// A minimal HTTP/1.1 server on a Unix socket that answers 200 at once. Only what has a body counts: probes have none.
//
// bench_http_server --socket PATH --count N [--watch PIDS] [--records FILE], records as spans from publish to arrival

#include "programs/stamp.hpp"
#include "programs/tally.hpp"
#include "programs/unix_socket.hpp"

#include <strings.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <array>
#include <charconv>
#include <memory>
#include <unordered_map>

namespace {

using namespace retryd::bench;

constexpr std::string_view answer = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
constexpr std::string_view end_of_head = "\r\n\r\n";
constexpr std::string_view length_field = "\r\nContent-Length:";

std::size_t content_length(std::string_view head) {
    for (auto at = head.find("\r\n"); at != std::string_view::npos; at = head.find("\r\n", at + 2)) {
        const auto line = head.substr(at);
        if (line.size() < length_field.size()) break;
        if (strncasecmp(line.data(), length_field.data(), length_field.size()) != 0) continue;
        std::size_t length = 0;
        auto value = line.substr(length_field.size());
        value.remove_prefix(std::min(value.find_first_not_of(' '), value.size()));
        std::from_chars(value.data(), value.data() + value.size(), length);
        return length;
    }
    return 0;
}

class HttpClient {
public:
    HttpClient(UnixSocket&& socket, Tally& tally) : socket_(std::move(socket)), tally_(tally) {}

    // What can be read was announced; false: the client has gone.
    [[nodiscard]] bool readable() {
        if (!socket_.read_some(input_)) return false;
        while (input_.size() >= wanted_ && take_request()) {
        }
        return true;
    }

private:
    bool take_request() {
        const std::string_view all = input_;
        const auto head = all.find(end_of_head);
        if (head == std::string_view::npos) return false;
        const auto begin = head + end_of_head.size();
        wanted_ = begin + content_length(all.substr(0, begin));
        if (all.size() < wanted_) return false;
        take(all.substr(begin, wanted_ - begin));
        input_.erase(0, wanted_);
        wanted_ = 1;
        return true;
    }

    void take(std::string_view body) {
        if (!body.empty()) {
            tally_.began();
            const auto stamp = read_stamp(body);
            tally_.note(stamp.number, body.size(), steady_now() - stamp.sent);
        }
        socket_.write(answer);
    }

    UnixSocket socket_;
    Tally& tally_;
    std::string input_;
    std::size_t wanted_ = 1;  // bytes before it is worth a look
};

class HttpServer {
public:
    HttpServer(const Options& options, Tally& tally)
        : listening_(listen_at(options.text("socket"))), epoll_(::epoll_create1(EPOLL_CLOEXEC)), tally_(tally) {
        watch(listening_.descriptor());
    }

    void run() {
        std::array<epoll_event, 64> events{};
        while (!tally_.complete()) {
            const int count = ::epoll_wait(epoll_.descriptor(), events.data(), static_cast<int>(events.size()), -1);
            for (int i = 0; i < count; ++i) ready(events[static_cast<std::size_t>(i)].data.fd);
        }
    }

private:
    void watch(int descriptor) {
        epoll_event event{};
        event.events = EPOLLIN;
        event.data.fd = descriptor;
        if (::epoll_ctl(epoll_.descriptor(), EPOLL_CTL_ADD, descriptor, &event) != 0) give_up("epoll_ctl");
    }

    void ready(int descriptor) {
        if (descriptor == listening_.descriptor()) return accept_one();
        const auto client = clients_.find(descriptor);
        if (!client->second.readable()) clients_.erase(client);
    }

    void accept_one() {
        const int descriptor = ::accept4(listening_.descriptor(), nullptr, nullptr, SOCK_CLOEXEC);
        if (descriptor < 0) return;
        clients_.try_emplace(descriptor, UnixSocket(descriptor), tally_);
        watch(descriptor);
    }

    UnixSocket listening_;
    UnixSocket epoll_;
    Tally& tally_;
    std::unordered_map<int, HttpClient> clients_;
};

}  // namespace

int main(int count, char** words) {
    const Options options(count, words);
    Tally tally(options);
    HttpServer server(options, tally);
    server.run();
    tally.print();
}
