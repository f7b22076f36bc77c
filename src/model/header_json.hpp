#pragma once
// Header values as JSON text, with their types kept where JSON has none: {"$timestamp":…}, {"$bytes":"base64"},
// {"$decimal":[scale,value]}, {"$double":"NaN"}, {"$table":…} round a table whose only key begins with `$`.
// Strings that are not UTF-8, tables deeper than 64 levels and malformed values are shown as `$bytes`.
// Of a key that a table holds twice, both are written.

#include "model/header_table.hpp"

#include <string>
#include <string_view>

namespace retryd::model {

void append_json(std::string& out, const FieldView& value);
// A JSON string literal with its quotes; control characters escaped. `text` must be UTF-8; other bytes become U+FFFD.
void append_json_string(std::string& out, std::string_view text);
[[nodiscard]] bool is_utf8(std::string_view text);
[[nodiscard]] std::string to_base64(std::string_view bytes);

}  // namespace retryd::model
