#pragma once
// One queue's stream: its socket, its sessions, and who gets the next message. On the main loop only.
//
// Protocol: make_shared, listen(), close() before it is let go. Nothing is reported from inside deliver(), abandon(), probe() or
// drain(), and nothing after close().

#include "deliver/stream_connection.hpp"
#include "model/policy.hpp"
#include "model/problem.hpp"
#include "ports/consumer.hpp"
#include "ports/inbox.hpp"
#include "ports/journal.hpp"
#include "sockets/listening_socket.hpp"

#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace retryd::deliver {

inline constexpr std::size_t most_sessions = 1000;
inline constexpr std::size_t most_turned_away = 100;                   // sessions that still hear why
inline constexpr std::size_t most_announced = std::size_t{16} << 20U;  // bytes of frames that are not whole, of all sessions

class StreamServer : public std::enable_shared_from_this<StreamServer>, public StreamConnection::Owner {
public:
    StreamServer(boost::asio::io_context& io, model::QueueId id, const model::QueuePolicy& queue, model::ByteCount max_body,
                 ports::Inbox& inbox, ports::Journal& journal);

    [[nodiscard]] model::Result<void> listen();
    void close();

    void deliver(ports::Delivery&& delivery);
    bool abandon(model::DeliveryKey key);  // false: not one of ours, or it was not sent
    void probe();
    void drain();
    [[nodiscard]] std::uint32_t credit() const;
    // "stream unix:/run/orders.sock, 4 sessions, credit 12"
    [[nodiscard]] std::string describe() const;

private:
    using Protocol = boost::asio::generic::stream_protocol;
    using ConnectionPtr = std::shared_ptr<StreamConnection>;
    struct Place {
        ConnectionPtr session;
        std::uint64_t id = 0;
    };

    void heard(StreamConnection& connection, Heard&& what) override;
    void ended(StreamConnection& connection, const std::string& why) override;
    void announced(StreamConnection& connection) override;
    void hear(StreamConnection& connection, const Welcomed& welcomed);
    void hear(StreamConnection& connection, Answered& answered);
    void hear(StreamConnection& connection, const AnsweredLate& late);
    void hear(StreamConnection& connection, const CreditGiven& given);
    void hear(StreamConnection& connection, const Extended& extended);
    void hear(StreamConnection& connection, const HasLeft& left);
    void hear(StreamConnection&, const NothingNew&) {}
    void hear(StreamConnection&, const Breach&) {}  // the connection has dealt with it

    void accept();
    void admit(Protocol::socket&& socket);
    [[nodiscard]] bool has_room();
    void stop_listening();
    [[nodiscard]] std::optional<Breach> refusal(std::optional<std::uint32_t> uid) const;
    void tell_refusal(const Breach& why, std::optional<std::uint32_t> uid);
    ConnectionPtr next_taker();
    void cut_off_who_does_not_read();
    void part_when_over(StreamConnection& connection);
    ConnectionPtr take_out(const StreamConnection& connection);  // null: not among the sessions any more
    void refuse(model::DeliveryKey key);
    void report_refused();
    void lose(const std::vector<model::DeliveryKey>& keys, const std::string& why);
    [[nodiscard]] std::size_t present() const;
    [[nodiscard]] std::string address() const { return "unix:" + target_.unix_path; }

    boost::asio::io_context& io_;
    model::QueueId id_;
    const model::QueuePolicy& queue_;
    const model::StreamTarget& target_;
    model::ByteCount max_body_;
    ports::Inbox& inbox_;
    ports::Journal& journal_;
    boost::asio::basic_socket_acceptor<Protocol> acceptor_;
    boost::asio::steady_timer pause_;  // between attempts to accept
    std::optional<sockets::SocketFile> file_;
    std::vector<ConnectionPtr> sessions_;  // who was given a message last stands last
    std::unordered_map<model::DeliveryKey, Place> places_;
    std::vector<model::DeliveryKey> refused_;             // there was nobody to take them
    std::vector<std::weak_ptr<StreamConnection>> alive_;  // all that there are, those that hear their last word among them
    std::vector<ConnectionPtr> not_reading_;
    std::uint64_t late_replies_ = 0;
    std::optional<model::SteadyTime> refusal_told_;  // when the log last had one
    std::uint64_t refused_untold_ = 0;
    bool draining_ = false;
    bool closed_ = false;
};

}  // namespace retryd::deliver
