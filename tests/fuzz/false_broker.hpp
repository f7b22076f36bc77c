#pragma once
// A broker that lets everybody in and then says what it was told to, whatever it is asked; then it hangs up.

#include "fuzz/input.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <condition_variable>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

namespace fuzz {

class FalseBroker {
public:
    FalseBroker() : listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof address;
        auto* const plain = reinterpret_cast<sockaddr*>(&address);
        const bool listens =
            ::bind(listener_, plain, size) == 0 && ::listen(listener_, 4) == 0 && ::getsockname(listener_, plain, &size) == 0;
        require(listens, "the false broker listens");
        port_ = ntohs(address.sin_port);
        thread_ = std::thread([this] { serve(); });
    }
    ~FalseBroker() {
        ::shutdown(listener_, SHUT_RDWR);
        thread_.join();
        ::close(listener_);
    }
    FalseBroker(const FalseBroker&) = delete;
    FalseBroker& operator=(const FalseBroker&) = delete;

    [[nodiscard]] std::uint16_t port() const { return port_; }
    // For the next connection.
    void will_say(std::string_view bytes) {
        const std::lock_guard lock(mutex_);
        words_ = bytes;
    }

private:
    static std::string frame(std::string_view arguments) {
        std::string bytes{"\1\0\0\0\0\0", 6};
        bytes += static_cast<char>(arguments.size());
        return bytes.append(arguments) + '\xce';
    }
    // connection.start, tune and open-ok, each before it is asked for.
    static std::string greeting() {
        return frame({"\0\x0a\0\x0a\0\x09\0\0\0\0\0\0\0\5PLAIN\0\0\0\5en_US", 28}) +
               frame({"\0\x0a\0\x1e\x07\xff\0\2\0\0\0\x3c", 12}) + frame({"\0\x0a\0\x29\0", 5});
    }

    void serve() {
        for (;;) {
            const int peer = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
            if (peer < 0 && errno == EINVAL) return;  // shut down
            if (peer < 0) continue;                   // a signal of the fuzzer, or a peer that is gone already
            std::string words = greeting();
            {
                const std::lock_guard lock(mutex_);
                words += words_;
            }
            std::size_t sent = 0;
            while (sent < words.size()) {
                const auto size = ::send(peer, words.data() + sent, words.size() - sent, MSG_NOSIGNAL);
                if (size <= 0) break;
                sent += static_cast<std::size_t>(size);
            }
            ::shutdown(peer, SHUT_WR);
            std::array<char, 4096> heard{};
            while (::read(peer, heard.data(), heard.size()) > 0) {
            }
            ::close(peer);
        }
    }

    int listener_;
    std::uint16_t port_ = 0;
    std::mutex mutex_;
    std::string words_;
    std::thread thread_;
};

}  // namespace fuzz
