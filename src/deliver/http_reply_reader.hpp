#pragma once
// Puts one HTTP reply together from the bytes of a connection, however they are cut. No socket.
//
// Protocol: one reader for each request; feed() what arrives until the state is not `reading`, end_of_stream() when the
// peer ends. Interim replies (1xx) are passed over. At most the head's 64 KiB and `max_body` are kept: a longer body is
// cut off, the reply then says only what its head says.

#include "model/names.hpp"
#include "model/outcome.hpp"

#include <memory>
#include <string>
#include <string_view>

namespace retryd::deliver {

class ReplyReader {
public:
    enum class State { reading, complete, broken };

    explicit ReplyReader(model::ByteCount max_body);
    ~ReplyReader();
    ReplyReader(const ReplyReader&) = delete;
    ReplyReader& operator=(const ReplyReader&) = delete;

    State feed(std::string_view bytes);
    State end_of_stream();

    // For `complete` only: the next request may use the connection (kept alive, whole, nothing after it).
    [[nodiscard]] bool reusable() const;
    // For `complete` only.
    [[nodiscard]] model::Reply reply() const;
    // For `broken` only: why.
    [[nodiscard]] const std::string& trouble() const { return trouble_; }

private:
    struct Parser;
    State parse();
    State judge();
    State fail(std::string trouble);

    model::ByteCount max_body_;
    std::unique_ptr<Parser> parser_;
    std::string unparsed_;
    std::string trouble_;
    State state_ = State::reading;
    bool cut_ = false;
    int interim_replies_ = 0;
};

}  // namespace retryd::deliver
