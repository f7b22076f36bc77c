#pragma once
// The AMQP 0-9-1 field table, kept as bytes: entries are read and written without decoding their values, so that
// every type letter, every byte and every duplicate key survives, at any depth.
//
// Types (RabbitMQ's reading of the letters): t bool · b i8 · B u8 · s i16 · u u16 · I i32 · i u32 · l i64 · L u64 (the
// broker reads it as signed) · f f32 · d f64 · D decimal · S string · x bytes · T timestamp · A array · F table · V void.

#include "model/problem.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace retryd::model {

struct FieldView {
    char type = 'V';
    std::string_view bytes;  // the value without its type letter; with its length prefix where the type has one
};
struct HeaderView {
    std::string_view name;
    FieldView value;
};

// The top level of a table, given without its 4-byte length. The views point into `table`. Never recurses: nested
// tables and arrays are stepped over by their length. Fails on a letter that is not listed above or a length that
// runs past the end.
[[nodiscard]] Result<std::vector<HeaderView>> read_table(std::string_view table);
// The values of an array, given without its 4-byte length.
[[nodiscard]] Result<std::vector<FieldView>> read_array(std::string_view array);

[[nodiscard]] const HeaderView* find_header(const std::vector<HeaderView>& headers, std::string_view name);

// The content of a string (S), byte string (x), table (F) or array (A) without its length; nothing for other types.
[[nodiscard]] std::optional<std::string_view> content(const FieldView& field);
// Any of the integer types or a timestamp, as a signed 64-bit number (u64 above 2^63 - 1: nothing). Nothing for others.
[[nodiscard]] std::optional<std::int64_t> integer(const FieldView& field);

// Writes a table entry by entry. Names over 255 bytes are a broken program (ours are constants; foreign ones were read).
class TableWriter {
public:
    TableWriter() = default;
    explicit TableWriter(std::size_t room) { bytes_.reserve(room); }  // bytes, so that it need not grow
    void add(std::string_view name, const FieldView& value);          // as it was read
    void add_string(std::string_view name, std::string_view value);
    void add_bytes(std::string_view name, std::string_view value);
    void add_long(std::string_view name, std::int64_t value);
    void add_table(std::string_view name, std::string_view table);  // without its length
    void add_array(std::string_view name, std::string_view array);
    [[nodiscard]] const std::string& bytes() const { return bytes_; }  // without the 4-byte length
    [[nodiscard]] std::string take() { return std::move(bytes_); }
    [[nodiscard]] bool empty() const { return bytes_.empty(); }

private:
    void name(std::string_view name, char type);
    std::string bytes_;
};

// Appends one table as a value of an array.
void append_table_value(std::string& array, std::string_view table);

}  // namespace retryd::model
