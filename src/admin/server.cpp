#include "admin/server.hpp"

#include "sockets/listening_socket.hpp"

#include <boost/asio.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>

#include <sys/socket.h>

#include <exception>
#include <iterator>
#include <list>
#include <optional>
#include <string>
#include <utility>

namespace retryd::admin {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;

// Unix and TCP sockets are the same to us once they listen.
using Protocol = asio::generic::stream_protocol;
using Socket = asio::basic_stream_socket<Protocol>;
using Acceptor = asio::basic_socket_acceptor<Protocol>;
using Stream = beast::basic_stream<Protocol>;
using Reply = http::response<http::string_body>;

constexpr auto nothrow = asio::as_tuple(asio::use_awaitable);
constexpr std::uint32_t head_limit = 8 * 1024;
constexpr std::uint64_t body_limit = 64 * 1024;
constexpr std::size_t buffer_limit = 16 * 1024;
constexpr std::size_t discard_limit = 1024 * 1024;  // read from a refused client, so that it sees our answer
constexpr std::chrono::milliseconds accept_pause{100};

// The answer to what is not a request, or too much of one; nothing where the connection itself has failed.
std::optional<Response> refusal(const beast::error_code& error) {
    if (error == http::error::header_limit || error == http::error::buffer_overflow) {
        return Response{431, "the request's head is over 8 KiB\n"};
    }
    if (error == http::error::body_limit) return Response{413, "the request's body is over 64 KiB\n"};
    const bool malformed = error.category() == http::make_error_code(http::error::bad_method).category() &&
                           error != http::error::end_of_stream && error != http::error::partial_message;
    if (malformed) return Response{400, "this is not an HTTP request\n"};
    return std::nullopt;
}

Reply make_reply(Response&& response, bool keep_alive, bool head) {
    Reply reply{http::int_to_status(response.status), 11};
    reply.set(http::field::content_type, beast::string_view{response.content_type.data(), response.content_type.size()});
    reply.set(http::field::cache_control, "no-store");
    reply.set("X-Content-Type-Options", "nosniff");
    if (!response.allow.empty())
        reply.set(http::field::allow, beast::string_view{response.allow.data(), response.allow.size()});
    if (response.asks_for_token) reply.set(http::field::www_authenticate, "Bearer");
    reply.keep_alive(keep_alive);
    reply.body() = std::move(response.body);
    reply.prepare_payload();
    if (head) reply.body().clear();  // the length stays: it is that of the GET
    return reply;
}

std::string_view plain(beast::string_view text) {
    return {text.data(), text.size()};
}

// An exception in a task means a broken program: it leaves through the loop to main.
void rethrow(const std::exception_ptr& broken) {
    if (broken) std::rethrow_exception(broken);
}

// Who asks, for the log: over a Unix socket the system knows the user; over TCP only the token speaks for them.
std::string peer_of(Socket& socket, const Door& door) {
    if (!door.tcp_host.empty()) return "token";
    ucred peer{};
    socklen_t size = sizeof peer;
    const bool known = ::getsockopt(socket.native_handle(), SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0;
    return known ? "uid " + std::to_string(peer.uid) : "unknown";
}

struct Listener {
    Acceptor acceptor;
    Door door;
    std::optional<sockets::SocketFile> file;
    std::size_t sessions = 0;  // of its clients: those of one address do not keep out those of another
};

struct Session {
    Stream stream;
    Listener& listener;
    std::string peer;
    beast::flat_buffer buffer{buffer_limit};
};

}  // namespace

// Shared by the server and its tasks, so that a task that is still ending has what it stands on.
struct AdminServer::Works : std::enable_shared_from_this<Works> {
    Works(asio::io_context& context, ports::Operator& seen_, MetricsText metrics_, ServerLimits limits_)
        : io(context),
          seen(seen_),
          metrics(std::move(metrics_)),
          limits(limits_),
          room(io, asio::steady_timer::time_point::max()) {}

    asio::io_context& io;
    ports::Operator& seen;
    MetricsText metrics;
    ServerLimits limits;
    bool stopping = false;
    std::size_t accepting = 0;  // accept tasks
    std::list<Listener> listeners;
    std::list<Session> sessions;
    asio::steady_timer room;  // never expires; cancelled when a session ends

    void start(Listener& listener);
    void start_session(Socket&& socket, Listener& listener);
    void stop();
    asio::awaitable<void> accept(Listener& listener);
    asio::awaitable<void> serve(Session& session);
    asio::awaitable<void> hang_up(Session& session);
    Reply answer(const http::request<http::string_body>& request, const Session& session) const;
};

void AdminServer::Works::start(Listener& listener) {
    ++accepting;
    asio::co_spawn(io, accept(listener), [self = shared_from_this()](std::exception_ptr broken) {
        --self->accepting;
        rethrow(broken);
    });
}

asio::awaitable<void> AdminServer::Works::accept(Listener& listener) {
    while (!stopping) {
        Socket socket{io};
        auto [error] = co_await listener.acceptor.async_accept(socket, nothrow);
        if (error && !stopping) {  // out of descriptors, mostly: others must end first
            asio::steady_timer pause{io, accept_pause};
            co_await pause.async_wait(nothrow);
        }
        while (!stopping && listener.sessions >= limits.connections) co_await room.async_wait(nothrow);
        if (!error && !stopping) start_session(std::move(socket), listener);
    }
}

void AdminServer::Works::start_session(Socket&& socket, Listener& listener) {
    std::string peer = peer_of(socket, listener.door);
    sessions.push_back(Session{Stream{std::move(socket)}, listener, std::move(peer)});
    ++listener.sessions;
    const auto place = std::prev(sessions.end());
    asio::co_spawn(io, serve(*place), [self = shared_from_this(), place](std::exception_ptr broken) {
        --place->listener.sessions;
        self->sessions.erase(place);
        self->room.cancel();
        rethrow(broken);
    });
}

asio::awaitable<void> AdminServer::Works::serve(Session& session) {
    bool keep_alive = true;
    while (keep_alive) {
        http::request_parser<http::string_body> parser;
        parser.header_limit(head_limit);
        parser.body_limit(body_limit);
        session.stream.expires_after(limits.patience);
        auto [read_error, head_size] = co_await http::async_read_header(session.stream, session.buffer, parser, nothrow);
        // Of chunks that come in small pieces Beast 1.81 asserts that they come whole, and we have no use for them.
        const bool chunked = !read_error && parser.chunked();
        if (!read_error && !chunked) {
            auto [body_error, size] = co_await http::async_read(session.stream, session.buffer, parser, nothrow);
            read_error = body_error;
        }
        if (stopping) co_return;
        std::optional<Response> refused = read_error ? refusal(read_error) : std::nullopt;
        if (chunked) refused = Response{411, "say Content-Length instead of Transfer-Encoding\n"};
        if (read_error && !refused) co_return;
        const Reply reply = refused ? make_reply(std::move(*refused), false, false) : answer(parser.get(), session);
        keep_alive = reply.keep_alive();
        session.stream.expires_after(limits.patience);
        auto [write_error, write_size] = co_await http::async_write(session.stream, reply, nothrow);
        if (write_error || stopping) co_return;
    }
    co_await hang_up(session);
}

// A socket closed over unread bytes resets the connection, and the client may never see our answer: so read on for a while.
asio::awaitable<void> AdminServer::Works::hang_up(Session& session) {
    beast::error_code ignored;
    session.stream.socket().shutdown(Socket::shutdown_send, ignored);
    std::string rest(buffer_limit, '\0');
    const auto target = asio::buffer(rest);
    session.stream.expires_after(limits.patience);
    for (std::size_t discarded = 0; discarded < discard_limit;) {
        auto [error, size] = co_await session.stream.async_read_some(target, nothrow);
        if (error) co_return;
        discarded += size;
    }
}

Reply AdminServer::Works::answer(const http::request<http::string_body>& request, const Session& session) const {
    const Request asked{.method = plain(request.method_string()),
                        .target = plain(request.target()),
                        .host = plain(request[http::field::host]),
                        .content_type = plain(request[http::field::content_type]),
                        .authorization = plain(request[http::field::authorization]),
                        .has_origin = request.count(http::field::origin) != 0,
                        .peer = session.peer};
    return make_reply(respond(asked, session.listener.door, seen, metrics), request.keep_alive(),
                      request.method() == http::verb::head);
}

void AdminServer::Works::stop() {
    stopping = true;
    beast::error_code ignored;
    for (Listener& listener : listeners) {
        listener.acceptor.close(ignored);
        if (listener.file) sockets::remove_socket_file(*listener.file);
        listener.file.reset();
    }
    for (Session& session : sessions) session.stream.close();
    room.cancel();
}

AdminServer::AdminServer(asio::io_context& io, ports::Operator& seen, MetricsText metrics, ServerLimits limits)
    : works_(std::make_shared<Works>(io, seen, std::move(metrics), limits)) {}

AdminServer::~AdminServer() {
    stop();
}

model::Result<model::ListenAddress> AdminServer::listen(const model::ListenAddress& address, ListenerKind kind,
                                                        std::string token) {
    auto opened = sockets::open_listening_socket(address);
    if (!opened) return opened.error();
    Acceptor acceptor{works_->io, Protocol{opened->family, 0}, opened->descriptor};
    works_->listeners.push_back(Listener{std::move(acceptor), Door{kind, address.tcp_host, std::move(token)}, opened->file});
    works_->start(works_->listeners.back());
    return opened->address;
}

void AdminServer::stop() {
    works_->stop();
}

bool AdminServer::stopped() const {
    return works_->accepting == 0 && works_->sessions.empty();
}

}  // namespace retryd::admin
