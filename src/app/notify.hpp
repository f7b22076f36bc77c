#pragma once
// Tells systemd how the service fares, as sd_notify(3) has it: datagrams to the socket that $NOTIFY_SOCKET names. Started by
// anything else, it says nothing.

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace retryd::app {

class Notify {
public:
    explicit Notify(boost::asio::io_context& io);

    void ready();  // from here on the watchdog hears from the loop that `io` runs: when that hangs, systemd ends the process
    void stopping();

private:
    void say(std::string_view state) const;
    void feed_watchdog();

    std::string socket_;  // empty: nobody wants to know
    std::optional<std::chrono::microseconds> feeding_;
    boost::asio::steady_timer timer_;
};

}  // namespace retryd::app
