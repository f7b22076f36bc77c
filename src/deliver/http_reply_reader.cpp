#include "deliver/http_reply_reader.hpp"

#include "deliver/http_reply.hpp"

#include <boost/beast/http/error.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

#include <utility>
#include <vector>

namespace retryd::deliver {
namespace {

namespace http = boost::beast::http;

constexpr std::uint32_t max_head = 64 * 1024;
constexpr std::size_t shortest_last_chunk = 5;  // "0\r\n\r\n"; Beast asserts it, though less may have come
constexpr int max_interim_replies = 32;

std::string_view view(boost::beast::string_view text) {
    return {text.data(), text.size()};
}

}  // namespace

struct ReplyReader::Parser : http::response_parser<http::string_body> {
    explicit Parser(model::ByteCount max_body) {
        header_limit(max_head);
        body_limit(max_body.value);
        eager(true);
    }
};

ReplyReader::ReplyReader(model::ByteCount max_body) : max_body_(max_body), parser_(std::make_unique<Parser>(max_body)) {}
ReplyReader::~ReplyReader() = default;

ReplyReader::State ReplyReader::feed(std::string_view bytes) {
    unparsed_.append(bytes);
    while (state_ == State::reading && !unparsed_.empty()) {
        const auto before = unparsed_.size();
        state_ = parse();
        if (unparsed_.size() == before) break;  // more bytes are needed
    }
    return state_;
}

ReplyReader::State ReplyReader::parse() {
    if (parser_->is_header_done() && parser_->chunked() && unparsed_.size() < shortest_last_chunk) return State::reading;
    boost::beast::error_code error;
    const auto used = parser_->put(boost::asio::buffer(unparsed_), error);
    unparsed_.erase(0, used);
    if (error == http::error::body_limit) {
        cut_ = true;
        return judge();
    }
    // What is not parsed yet is part of a head, of a chunk's head or of a trailer.
    if (error == http::error::need_more && unparsed_.size() <= max_head) return State::reading;
    if (error) return fail(error == http::error::need_more ? "a line without end" : error.message());
    return parser_->is_done() ? judge() : State::reading;
}

// A message has come, as much of it as is kept: is it the reply?
ReplyReader::State ReplyReader::judge() {
    const auto status = parser_->get().result_int();
    if (status < 100 || status == 101) return fail("status " + std::to_string(status));
    if (status >= 200) return State::complete;
    if (++interim_replies_ > max_interim_replies) return fail("interim replies without end");
    parser_ = std::make_unique<Parser>(max_body_);
    return State::reading;
}

ReplyReader::State ReplyReader::end_of_stream() {
    if (state_ != State::reading) return state_;
    if (!parser_->got_some()) return state_ = fail("closed before a reply");
    boost::beast::error_code error;
    parser_->put_eof(error);
    if (error) return state_ = fail("closed amid a reply");
    state_ = judge();
    return state_ == State::reading ? state_ = fail("closed before a reply") : state_;
}

ReplyReader::State ReplyReader::fail(std::string trouble) {
    trouble_ = std::move(trouble);
    return State::broken;
}

bool ReplyReader::reusable() const {
    return state_ == State::complete && !cut_ && unparsed_.empty() && parser_->keep_alive();
}

model::Reply ReplyReader::reply() const {
    const auto& response = parser_->get();
    std::vector<ReplyField> fields;
    for (const auto& field : response) fields.push_back({view(field.name_string()), view(field.value())});
    const std::string_view body = cut_ ? std::string_view{} : response.body();
    return read_reply(static_cast<std::uint16_t>(response.result_int()), fields, body);
}

}  // namespace retryd::deliver
