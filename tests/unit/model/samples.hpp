#pragma once
// Tables and messages for the tests of the vocabulary, and random ones from a fixed seed.

#include "model/header_table.hpp"
#include "model/properties.hpp"

#include <cstdint>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace samples {

using retryd::model::FieldView;
using retryd::model::HeaderView;
using retryd::model::Properties;
using retryd::model::TableWriter;

inline std::string big_endian(std::uint64_t value, std::size_t size) {
    std::string bytes;
    while (size-- > 0) bytes += static_cast<char>(value >> (8 * size) & 0xff);
    return bytes;
}

inline std::string sized(std::string_view bytes) {
    return big_endian(bytes.size(), 4) + std::string(bytes);
}

// One header that owns its bytes.
struct Header {
    std::string name;
    char type = 'V';
    std::string bytes;
    auto operator<=>(const Header&) const = default;
};

inline Header text(std::string name, std::string_view value) {
    return {std::move(name), 'S', sized(value)};
}
inline Header number(std::string name, std::int64_t value) {
    return {std::move(name), 'l', big_endian(static_cast<std::uint64_t>(value), 8)};
}

inline std::string table(const std::vector<Header>& headers) {
    TableWriter writer;
    for (const Header& header : headers) writer.add(header.name, {header.type, header.bytes});
    return writer.bytes();
}

inline std::vector<Header> headers_of(std::string_view bytes) {
    std::vector<Header> headers;
    const auto views = retryd::model::read_table(bytes).value();
    for (const HeaderView& view : views) {
        headers.push_back({std::string(view.name), view.value.type, std::string(view.value.bytes)});
    }
    return headers;
}

// One of each kind that AMQP headers have, with values that go wrong easily, and one name twice.
inline std::vector<Header> every_kind() {
    return {{"true", 't', "\x01"},
            {"i8", 'b', "\xfb"},
            {"u8", 'B', "\xfa"},
            {"i16", 's', big_endian(65536 - 300, 2)},
            {"u16", 'u', big_endian(65000, 2)},
            {"i32", 'I', big_endian(4294967296 - 70000, 4)},
            {"u32", 'i', big_endian(4000000000, 4)},
            {"i64", 'l', big_endian(std::uint64_t{0} - (std::uint64_t{1} << 40), 8)},
            {"small-u64", 'L', big_endian(5, 8)},
            {"big-u64", 'L', big_endian(std::numeric_limits<std::uint64_t>::max(), 8)},
            {"f32", 'f', big_endian(0x3fc00000, 4)},
            {"f64", 'd', big_endian(0x3fb999999999999a, 8)},
            {"decimal", 'D', std::string("\x02", 1) + big_endian(12345, 4)},
            {"negative-decimal", 'D', std::string("\x02", 1) + big_endian(4294967296 - 12345, 4)},
            {"timestamp", 'T', big_endian(1700000000, 8)},
            {"void", 'V', ""},
            text("string", "plain"),
            text("not-utf8", std::string_view("\xff\xfe bad", 6)),
            text("embedded-nul", std::string_view("a\0b", 3)),
            {"bytes", 'x', sized(std::string_view("\x00\xff", 2))},
            {"empty-array", 'A', sized("")},
            {"array", 'A', sized("t\x01" + std::string("S") + sized("in"))},
            {"empty-table", 'F', sized("")},
            {"table", 'F', sized(table({text("inner", "value")}))},
            number("dup", 1),
            number("dup", 2)};
}

// Chance that repeats: the same seed, the same run.
class Chance {
public:
    explicit Chance(std::uint64_t seed) : engine_(seed) {}
    std::uint64_t below(std::uint64_t limit) { return engine_() % limit; }
    bool coin() { return below(2) == 1; }

    std::string bytes(std::size_t longest) {
        std::string out(below(longest + 1), '\0');
        for (char& byte : out) byte = static_cast<char>(below(256));
        return out;
    }

    Header header(int depth = 0) {
        constexpr std::string_view letters = "tbBsuIilLfdDSxTAFV";
        static_assert(letters.size() == 18);
        const char type = letters[below(depth < 4 ? letters.size() : letters.size() - 3)];
        return {bytes(12), type, value(type, depth)};
    }

    std::vector<Header> headers(std::size_t most, int depth = 0) {
        std::vector<Header> out(below(most + 1));
        for (Header& one : out) one = header(depth);
        return out;
    }

    // Bytes that are mostly well formed: a few are changed, or the end is missing.
    std::string damaged(std::string bytes) {
        for (std::uint64_t i = below(4); i > 0 && !bytes.empty(); --i)
            bytes[below(bytes.size())] = static_cast<char>(below(256));
        if (coin()) bytes.resize(below(bytes.size() + 1));
        return bytes;
    }

private:
    std::string value(char type, int depth) {
        switch (type) {
            case 'V': return "";
            case 't':
            case 'b':
            case 'B': return big_endian(below(256), 1);
            case 's':
            case 'u': return big_endian(below(65536), 2);
            case 'I':
            case 'i':
            case 'f': return big_endian(engine_(), 4);
            case 'D': return big_endian(engine_(), 5);
            case 'S':
            case 'x': return sized(bytes(20));
            case 'A': return sized(array(depth + 1));
            case 'F': return sized(table(headers(3, depth + 1)));
            default: return big_endian(engine_(), 8);
        }
    }

    std::string array(int depth) {
        std::string out;
        for (const Header& one : headers(3, depth)) out += one.type + one.bytes;
        return out;
    }

    std::mt19937_64 engine_;
};

// Each property there or not, as chance has it; `table` is the headers' bytes where they are there.
inline std::string random_properties(Chance& chance, const std::string& table) {
    std::vector<std::string> strings(10);
    for (std::string& one : strings) one = chance.bytes(chance.coin() ? 20 : 255);
    std::size_t next = 0;
    const auto short_string = [&]() -> std::optional<std::string_view> {
        const std::string& one = strings[next++];
        return chance.coin() ? std::optional<std::string_view>(one) : std::nullopt;
    };
    Properties p;
    for (auto* property : {&p.content_type, &p.content_encoding, &p.correlation_id, &p.reply_to, &p.expiration, &p.message_id,
                           &p.type, &p.user_id, &p.app_id, &p.cluster_id}) {
        *property = short_string();
    }
    if (chance.coin()) p.headers = table;
    if (chance.coin()) p.delivery_mode = static_cast<std::uint8_t>(chance.below(256));
    if (chance.coin()) p.priority = static_cast<std::uint8_t>(chance.below(256));
    if (chance.coin()) p.timestamp = chance.below(std::numeric_limits<std::uint64_t>::max());
    return retryd::model::write_properties(p);
}

}  // namespace samples
