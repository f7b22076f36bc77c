#include "model/properties.hpp"

#include <cstdlib>

namespace retryd::model {
namespace {

// The flag of each property, in the order of the list. Bit 0 would announce a second flag word, which the basic class
// does not have; bit 1 belongs to no property.
enum Flag : std::uint16_t {
    content_type_flag = 1 << 15,
    content_encoding_flag = 1 << 14,
    headers_flag = 1 << 13,
    delivery_mode_flag = 1 << 12,
    priority_flag = 1 << 11,
    correlation_id_flag = 1 << 10,
    reply_to_flag = 1 << 9,
    expiration_flag = 1 << 8,
    message_id_flag = 1 << 7,
    timestamp_flag = 1 << 6,
    type_flag = 1 << 5,
    user_id_flag = 1 << 4,
    app_id_flag = 1 << 3,
    cluster_id_flag = 1 << 2,
    more_flags = 1 << 0,  // another flag word: for properties that no method of ours has
};

Problem broken(std::string what) {
    return {ProblemCode::bad_syntax, "properties", std::move(what), ""};
}

class Reader {
public:
    explicit Reader(std::string_view bytes) : rest_(bytes) {}

    std::uint64_t number(std::size_t size) {
        std::uint64_t value = 0;
        for (const char byte : take(size)) value = value << 8 | static_cast<unsigned char>(byte);
        return value;
    }
    std::string_view short_string() { return take(number(1)); }
    std::string_view table() { return take(number(4)); }

    [[nodiscard]] bool failed() const { return failed_; }
    [[nodiscard]] bool at_end() const { return rest_.empty(); }

private:
    std::string_view take(std::uint64_t size) {
        if (size > rest_.size()) {
            failed_ = true;
            rest_ = {};
        }
        if (failed_) return {};
        const std::string_view taken = rest_.substr(0, size);
        rest_.remove_prefix(size);
        return taken;
    }

    std::string_view rest_;
    bool failed_ = false;
};

class Writer {
public:
    explicit Writer(std::size_t room) { list_.reserve(room); }

    void add(Flag flag, const std::optional<std::string_view>& short_string) {
        if (!short_string) return;
        if (short_string->size() > 255) std::abort();
        present(flag);
        number(short_string->size(), 1);
        list_ += *short_string;
    }
    void add_table(Flag flag, const std::optional<std::string_view>& table) {
        if (!table) return;
        present(flag);
        number(table->size(), 4);
        list_ += *table;
    }
    template <class Number>
    void add_number(Flag flag, const std::optional<Number>& value) {
        if (!value) return;
        present(flag);
        number(*value, sizeof(Number));
    }
    [[nodiscard]] std::string finish() {
        list_[0] = static_cast<char>(flags_ >> 8);
        list_[1] = static_cast<char>(flags_ & 0xff);
        return std::move(list_);
    }

private:
    void present(Flag flag) { flags_ = static_cast<std::uint16_t>(flags_ | flag); }
    void number(std::uint64_t value, std::size_t size) {
        while (size-- > 0) list_ += static_cast<char>(value >> (8 * size) & 0xff);
    }

    std::uint16_t flags_ = 0;
    std::string list_ = std::string(2, '\0');  // the flags' place
};

}  // namespace

Result<Properties> read_properties(std::string_view bytes) {
    Reader in(bytes);
    const auto flags = in.number(2);
    if (in.failed()) return broken("the flag word is cut off");
    if ((flags & more_flags) != 0) return broken("a second flag word is announced");

    Properties p;
    if (flags & content_type_flag) p.content_type = in.short_string();
    if (flags & content_encoding_flag) p.content_encoding = in.short_string();
    if (flags & headers_flag) p.headers = in.table();
    if (flags & delivery_mode_flag) p.delivery_mode = static_cast<std::uint8_t>(in.number(1));
    if (flags & priority_flag) p.priority = static_cast<std::uint8_t>(in.number(1));
    if (flags & correlation_id_flag) p.correlation_id = in.short_string();
    if (flags & reply_to_flag) p.reply_to = in.short_string();
    if (flags & expiration_flag) p.expiration = in.short_string();
    if (flags & message_id_flag) p.message_id = in.short_string();
    if (flags & timestamp_flag) p.timestamp = in.number(8);
    if (flags & type_flag) p.type = in.short_string();
    if (flags & user_id_flag) p.user_id = in.short_string();
    if (flags & app_id_flag) p.app_id = in.short_string();
    if (flags & cluster_id_flag) p.cluster_id = in.short_string();
    if (in.failed()) return broken("a property runs past the end");
    if (!in.at_end()) return broken("bytes are left over");
    return p;
}

std::string write_properties(const Properties& p) {
    constexpr std::size_t usual_room = 128;  // beside the headers
    Writer out(usual_room + (p.headers ? p.headers->size() : 0));
    out.add(content_type_flag, p.content_type);
    out.add(content_encoding_flag, p.content_encoding);
    out.add_table(headers_flag, p.headers);
    out.add_number(delivery_mode_flag, p.delivery_mode);
    out.add_number(priority_flag, p.priority);
    out.add(correlation_id_flag, p.correlation_id);
    out.add(reply_to_flag, p.reply_to);
    out.add(expiration_flag, p.expiration);
    out.add(message_id_flag, p.message_id);
    out.add_number(timestamp_flag, p.timestamp);
    out.add(type_flag, p.type);
    out.add(user_id_flag, p.user_id);
    out.add(app_id_flag, p.app_id);
    out.add(cluster_id_flag, p.cluster_id);
    return out.finish();
}

}  // namespace retryd::model
