#pragma once
// One connection to a consumer: one request at a time, kept alive between them. On the main loop only.
//
// Protocol: make_shared, then open() once; send() one exchange, which may come before the connection stands; after
// replied() the next one, where the connection is open() still. Between exchanges it is watched: ended() comes when the
// peer ends it or says something that was not asked for. The owner is never called from inside start(), send() or
// close(), and never after close() or ended(). The object keeps itself alive until its last operation is over.

#include "deliver/http_dial.hpp"
#include "deliver/http_reply_reader.hpp"
#include "model/message.hpp"
#include "model/names.hpp"
#include "model/outcome.hpp"
#include "model/policy.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/system/error_code.hpp>

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace retryd::deliver {

struct HttpExchange {
    model::DeliveryKey key;
    std::string head;
    model::MessagePtr message;  // for its body
};

class HttpConnection : public std::enable_shared_from_this<HttpConnection> {
public:
    class Owner {
    public:
        virtual ~Owner() = default;
        // It stands and has nothing to do: nothing was sent before.
        virtual void connected(HttpConnection& connection) = 0;
        virtual void replied(HttpConnection& connection, model::DeliveryKey key, model::Reply&& reply) = 0;
        // It is closed; an exchange that it had got no whole reply. `trouble` says why.
        virtual void ended(HttpConnection& connection, const std::string& trouble) = 0;
    };

    HttpConnection(boost::asio::io_context& io, const model::DeliverPolicy& policy, Owner& owner);

    void start();
    void send(HttpExchange exchange);
    void close();

    [[nodiscard]] bool is_open() const { return owner_ != nullptr; }
    // Asks the kernel: it stands, and nothing has come since the last reply, not even its end.
    [[nodiscard]] bool is_silent();
    [[nodiscard]] bool was_reused() const { return reused_; }       // stood before the exchange was sent
    [[nodiscard]] bool is_connected() const { return connected_; }  // or was, before it ended
    [[nodiscard]] bool has_sent() const { return sent_ > 0; }       // something of the exchange
    [[nodiscard]] const std::optional<HttpExchange>& exchange() const { return exchange_; }

private:
    boost::asio::awaitable<void> run();
    void write();
    void written(const boost::system::error_code& error);
    void received(std::string_view bytes);
    void stream_ended(const boost::system::error_code& why);
    void finish_exchange();
    void end(const std::string& trouble);

    boost::asio::io_context& io_;
    const model::HttpTarget target_;
    const model::ByteCount max_reply_;
    Owner* owner_;  // null once closed
    StreamSocket socket_;
    bool connected_ = false;
    std::array<char, 16 * 1024> input_{};

    std::optional<HttpExchange> exchange_;
    std::optional<ReplyReader> reader_;  // while there is an exchange
    std::size_t sent_ = 0;
    bool sending_ = false;
    bool reused_ = false;
};

}  // namespace retryd::deliver
