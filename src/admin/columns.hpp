#pragma once
// Text for a terminal of 100 columns.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace retryd::admin {

inline constexpr std::size_t width = 100;

using Row = std::vector<std::string>;

// Characters, not bytes, so that names beyond ASCII do not push a column out of line.
[[nodiscard]] std::size_t columns(std::string_view text);
[[nodiscard]] std::string spaces(std::size_t count);
[[nodiscard]] std::string left(std::string_view text, std::size_t size);   // filled up to `size` columns, never cut
[[nodiscard]] std::string right(std::string_view text, std::size_t size);  // the same, text to the right
[[nodiscard]] Row words_of(std::string_view text);

// Pieces set into lines of at most `width` columns, none of them broken; further lines are indented by `indent`.
[[nodiscard]] std::string wrapped(const Row& pieces, std::size_t first_indent, std::size_t indent);
// The same for the words of a text.
[[nodiscard]] std::string paragraph(std::string_view text, std::size_t first_indent, std::size_t indent);

// A table of rows of equal size, none empty; cells before `first_number` stand to the left, the others to the right. A first
// cell that does not fit has a line of its own.
[[nodiscard]] std::string set_table(const std::vector<Row>& rows, std::size_t first_number);

}  // namespace retryd::admin
