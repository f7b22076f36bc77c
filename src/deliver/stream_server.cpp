#include "deliver/stream_server.hpp"

#include "deliver/stream_message.hpp"
#include "sockets/peer.hpp"

#include <boost/asio/post.hpp>

#include <algorithm>
#include <chrono>
#include <limits>
#include <numeric>
#include <utility>

namespace retryd::deliver {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;

constexpr std::chrono::milliseconds accept_pause{100};  // out of descriptors, mostly: others must end first

constexpr std::chrono::minutes refusals_told_every{1};

// Taking turns makes even shares; a session that is kept from the processor for a moment may fall this far behind the least
// busy one before it is passed over.
constexpr std::size_t may_fall_behind = 8;

// What counts against giving it more: one that is late may be stuck.
std::size_t burden(const StreamSession& session) {
    return session.busy() + (session.is_late() ? may_fall_behind + 1 : 0);
}

model::Reply unsent(std::string why) {
    model::Reply reply;
    reply.kind = model::Reply::Kind::unavailable;
    reply.error_type = "retryd.Unavailable";
    reply.error_message = std::move(why);
    return reply;
}

model::Reply lost(const std::string& why) {
    model::Reply reply;
    reply.kind = model::Reply::Kind::lost;
    reply.error_type = "retryd.Lost";
    reply.error_message = why;
    return reply;
}

std::string counted(std::size_t count, const std::string& one, const std::string& many) {
    return std::to_string(count) + " " + (count == 1 ? one : many);
}

}  // namespace

StreamServer::StreamServer(asio::io_context& io, model::QueueId id, const model::QueuePolicy& queue, model::ByteCount max_body,
                           ports::Inbox& inbox, ports::Journal& journal)
    : io_(io),
      id_(id),
      queue_(queue),
      target_(*queue.deliver.stream),
      max_body_(max_body),
      inbox_(inbox),
      journal_(journal),
      acceptor_(io),
      pause_(io) {}

model::Result<void> StreamServer::listen() {
    auto opened = sockets::open_listening_socket({target_.unix_path, {}, 0}, target_.access);
    if (!opened) return opened.error();
    acceptor_.assign(Protocol{opened->family, 0}, opened->descriptor);
    file_ = opened->file;
    accept();
    return {};
}

void StreamServer::close() {
    closed_ = true;
    stop_listening();
    for (const auto& session : sessions_) session->close();
    sessions_.clear();
    places_.clear();
}

void StreamServer::stop_listening() {
    error_code ignored;
    acceptor_.close(ignored);
    pause_.cancel();
    if (file_) sockets::remove_socket_file(*file_);
    file_.reset();
}

// --- sessions come

void StreamServer::accept() {
    acceptor_.async_accept([self = shared_from_this()](const error_code& error, Protocol::socket socket) {
        if (!self->acceptor_.is_open()) return;
        if (!error) {
            self->admit(std::move(socket));
            return self->accept();
        }
        self->pause_.expires_after(accept_pause);
        self->pause_.async_wait([self](const error_code&) {
            if (self->acceptor_.is_open()) self->accept();
        });
    });
}

void StreamServer::admit(Protocol::socket&& socket) {
    const auto uid = sockets::peer_uid(socket.native_handle());
    if (!has_room()) return;  // a flood of callers that are turned away: closed without a word
    const auto session = std::make_shared<StreamConnection>(io_, std::move(socket), *this);
    alive_.push_back(session);
    session->start();
    if (const auto refused = refusal(uid)) {
        tell_refusal(*refused, uid);
        return session->break_off(*refused);
    }
    sessions_.push_back(session);
}

bool StreamServer::has_room() {
    constexpr auto most = most_sessions + most_turned_away;
    if (alive_.size() >= most) std::erase_if(alive_, [](const auto& each) { return each.expired(); });
    return alive_.size() < most;
}

std::optional<Breach> StreamServer::refusal(std::optional<std::uint32_t> uid) const {
    const auto& allowed = target_.access.uids;
    if (!allowed.empty() && (!uid || std::find(allowed.begin(), allowed.end(), *uid) == allowed.end())) {
        return Breach{"not_allowed", "the policy's stream_access does not name this process's user"};
    }
    if (sessions_.size() >= most_sessions) return Breach{"too_many_sessions", "there are 1000 sessions already"};
    return std::nullopt;
}

// One line in a while, with how many there were since the last: who is refused mostly tries again and again.
void StreamServer::tell_refusal(const Breach& why, std::optional<std::uint32_t> uid) {
    const auto now = steady_now();
    if (refusal_told_ && now - *refusal_told_ < refusals_told_every) {
        ++refused_untold_;
        return;
    }
    refusal_told_ = now;
    ports::LogEvent line{model::LogLevel::warn, "session_refused", {{"queue", queue_.name.value}, {"why", why.message}}};
    if (uid) line.fields.emplace_back("uid", std::to_string(*uid));
    if (const auto untold = std::exchange(refused_untold_, 0); untold > 0)
        line.fields.emplace_back("untold", std::to_string(untold));
    journal_.record(line);
}

// --- what they say

void StreamServer::heard(StreamConnection& connection, Heard&& what) {
    std::visit([&](auto& it) { hear(connection, it); }, what);
    part_when_over(connection);
}

void StreamServer::hear(StreamConnection& connection, const Welcomed&) {
    connection.send(welcome_frame(queue_.name, max_body_, queue_.deliver.timeout));
    if (draining_) connection.send(drain_frame());
    if (present() == 1) {
        inbox_.probed(id_, {});
    } else {
        inbox_.credit_changed(id_);
    }
}

void StreamServer::hear(StreamConnection&, Answered& answered) {
    places_.erase(answered.key);
    inbox_.replied(answered.key, std::move(answered.reply));
}

void StreamServer::hear(StreamConnection&, const AnsweredLate&) {
    ++late_replies_;
    inbox_.credit_changed(id_);
}

void StreamServer::hear(StreamConnection&, const CreditGiven&) {
    inbox_.credit_changed(id_);
}

void StreamServer::hear(StreamConnection&, const Extended& extended) {
    inbox_.extended(extended.key, extended.more);
}

void StreamServer::hear(StreamConnection&, const HasLeft&) {
    if (present() == 0) inbox_.consumer_gone(id_, "the last session on " + address() + " has left");
}

// Who leaves need not guess what is still on its way to it: the end of the session says that nothing is.
void StreamServer::part_when_over(StreamConnection& connection) {
    if (!connection.session().is_over()) return;
    const auto session = take_out(connection);
    if (session != nullptr) session->finish();
}

StreamServer::ConnectionPtr StreamServer::take_out(const StreamConnection& connection) {
    const auto found =
        std::find_if(sessions_.begin(), sessions_.end(), [&](const auto& it) { return it.get() == &connection; });
    if (found == sessions_.end()) return nullptr;
    auto session = std::move(*found);
    sessions_.erase(found);
    return session;
}

void StreamServer::ended(StreamConnection& connection, const std::string& why) {
    const auto session = take_out(connection);
    if (session == nullptr) return;
    lose(session->session().unanswered(), why);
    if (session->session().is_present() && present() == 0) inbox_.consumer_gone(id_, why + ", it was the last on " + address());
}

// Too much in all: whoever has announced most pays for it.
void StreamServer::announced(StreamConnection&) {
    const auto add = [](std::size_t sum, const ConnectionPtr& each) { return sum + each->unfinished(); };
    if (std::accumulate(sessions_.begin(), sessions_.end(), std::size_t{0}, add) <= most_announced) return;
    const auto less = [](const ConnectionPtr& one, const ConnectionPtr& other) {
        return one->unfinished() < other->unfinished();
    };
    const auto session = *std::max_element(sessions_.begin(), sessions_.end(), less);
    const Breach breach{"too_much_announced", "16 MiB of frames that are not whole yet, and most of them is this session's"};
    session->break_off(breach);
    ended(*session, "the session was closed: " + breach.message);
}

void StreamServer::lose(const std::vector<model::DeliveryKey>& keys, const std::string& why) {
    for (const auto key : keys) places_.erase(key);
    for (const auto key : keys) inbox_.replied(key, lost(why));
}

// --- what the engine wants

void StreamServer::deliver(ports::Delivery&& delivery) {
    const auto taker = next_taker();
    if (taker == nullptr) return refuse(delivery.key);
    const auto id = taker->session().give(delivery.key, steady_now());
    places_.insert_or_assign(delivery.key, Place{taker, id});
    auto frame = message_frame(delivery, id, queue_.name);
    taker->send(std::move(frame), std::move(delivery.message), id);
}

// Of those with credit whoever has waited longest, but for those that have clearly more to do than others.
StreamServer::ConnectionPtr StreamServer::next_taker() {
    auto least = std::numeric_limits<std::size_t>::max();
    for (const auto& each : sessions_) {
        if (each->session().credit() > 0) least = std::min(least, burden(each->session()));
    }
    const auto next = std::find_if(sessions_.begin(), sessions_.end(), [&](const ConnectionPtr& each) {
        return each->session().credit() > 0 && burden(each->session()) - least <= may_fall_behind;
    });
    if (next == sessions_.end()) return nullptr;
    std::rotate(next, next + 1, sessions_.end());
    return sessions_.back();
}

void StreamServer::refuse(model::DeliveryKey key) {
    refused_.push_back(key);
    if (refused_.size() > 1) return;
    asio::post(io_, [self = shared_from_this()] { self->report_refused(); });
}

void StreamServer::report_refused() {
    const auto keys = std::exchange(refused_, {});
    if (closed_) return;
    for (const auto key : keys) inbox_.replied(key, unsent("no session on " + address() + " has credit"));
}

bool StreamServer::abandon(model::DeliveryKey key) {
    if (std::erase(refused_, key) > 0) return false;
    const auto place = places_.extract(key);
    if (place.empty()) return false;
    auto& [session, id] = place.mapped();
    const bool withdrawn = session->withdraw(id);
    if (withdrawn) {
        session->session().take_back(id);
    } else {
        session->session().abandon(id);
    }
    if (session->is_stuck()) {
        not_reading_.push_back(session);
        if (not_reading_.size() == 1) asio::post(io_, [self = shared_from_this()] { self->cut_off_who_does_not_read(); });
    }
    part_when_over(*session);
    return !withdrawn;
}

// A message's whole time went by while nothing was read. What is given to such a session would pile up, whatever its credit,
// and every body would stay here after its message has left.
void StreamServer::cut_off_who_does_not_read() {
    for (const auto& session : std::exchange(not_reading_, {})) {
        session->close();
        ended(*session, "the session did not read");
    }
}

void StreamServer::probe() {
    asio::post(io_, [self = shared_from_this()] {
        if (self->closed_) return;
        self->inbox_.probed(self->id_, self->present() > 0 ? std::string{} : "no session on " + self->address());
    });
}

void StreamServer::drain() {
    if (std::exchange(draining_, true)) return;
    stop_listening();  // whoever dials finds our successor
    for (const auto& session : sessions_) {
        if (session->session().is_present()) session->send(drain_frame());
    }
}

std::uint32_t StreamServer::credit() const {
    const auto add = [](std::uint32_t sum, const ConnectionPtr& each) { return sum + each->session().credit(); };
    return std::accumulate(sessions_.begin(), sessions_.end(), std::uint32_t{0}, add);
}

std::string StreamServer::describe() const {
    auto text =
        "stream " + address() + ", " + counted(present(), "session", "sessions") + ", credit " + std::to_string(credit());
    if (late_replies_ > 0) text += ", " + counted(late_replies_, "late reply", "late replies");
    return text;
}

std::size_t StreamServer::present() const {
    const auto is_present = [](const ConnectionPtr& each) { return each->session().is_present(); };
    return static_cast<std::size_t>(std::count_if(sessions_.begin(), sessions_.end(), is_present));
}

}  // namespace retryd::deliver
