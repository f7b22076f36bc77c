#include "app/notify.hpp"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace retryd::app {

namespace {

std::string variable(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? "" : value;
}

// Twice in the time after which systemd would lose patience; nothing where there is no watchdog, or it is not for us.
std::optional<std::chrono::microseconds> watchdog_feeding() {
    const std::string wanted_pid = variable("WATCHDOG_PID");
    if (!wanted_pid.empty() && wanted_pid != std::to_string(::getpid())) return std::nullopt;
    const std::string text = variable("WATCHDOG_USEC");
    std::int64_t patience = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), patience);
    if (error != std::errc{} || end != text.data() + text.size() || patience < 2) return std::nullopt;
    return std::chrono::microseconds{patience / 2};
}

}  // namespace

Notify::Notify(boost::asio::io_context& io) : socket_(variable("NOTIFY_SOCKET")), feeding_(watchdog_feeding()), timer_(io) {}

void Notify::ready() {
    say("READY=1");
    if (!socket_.empty() && feeding_) feed_watchdog();
}

void Notify::stopping() {
    say("STOPPING=1");
}

void Notify::feed_watchdog() {
    say("WATCHDOG=1");
    timer_.expires_after(*feeding_);
    timer_.async_wait([this](const boost::system::error_code& error) {
        if (!error) feed_watchdog();
    });
}

// Never waits: whoever reads the other end must not be able to stop the messages.
void Notify::say(std::string_view state) const {
    sockaddr_un name{};
    if (socket_.empty() || socket_.size() >= sizeof name.sun_path) return;
    name.sun_family = AF_UNIX;
    std::memcpy(name.sun_path, socket_.data(), socket_.size());
    if (socket_.front() == '@') name.sun_path[0] = '\0';  // the abstract namespace, where the length ends the name
    const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + socket_.size());
    const int descriptor = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (descriptor < 0) return;
    const auto* address = reinterpret_cast<const sockaddr*>(&name);
    (void)::sendto(descriptor, state.data(), state.size(), MSG_DONTWAIT | MSG_NOSIGNAL, address, length);
    ::close(descriptor);
}

}  // namespace retryd::app
